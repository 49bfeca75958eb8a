import { expect, test } from "vitest";
import { dispositionOf } from "./file-answer.ts";

test("a downloaded file is stored in no other folder, whatever its name", () => {
  expect(dispositionOf("../../é\tvil\\x.html")).toBe(
    `attachment; filename=".._..___vil_x.html"; filename*=UTF-8''.._.._%C3%A9_vil_x.html`,
  );
});
