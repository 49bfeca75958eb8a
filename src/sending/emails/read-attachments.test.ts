import { expect, it, vi } from "vitest";
import { readAttachments } from "./read-attachments.ts";

const read = (content: string) =>
  readAttachments([{ filename: "a.txt", content, content_type: "text/plain" }])[0]?.content;

it.each([
  ["line breaks", "QUJD\r\nREVG\nRw==\r"],
  ["blanks and tabs", " QUJD\tREVG \v\f Rw== "],
  ["breaks and no padding", "QUJDREVG\nRw\n"],
])("Base64 with %s is kept as one line with its padding", (_what, content) => {
  expect(read(content)).toBe("QUJDREVGRw==");
});

it("breaks behind every few characters are taken out in one pass", () => {
  const replace = vi.spyOn(String.prototype, "replaceAll");
  expect(read("QUJD\r\n".repeat(1_000_000))).toBe("QUJD".repeat(1_000_000));
  expect(replace.mock.contexts.filter((text) => String(text).length > 1_000)).toEqual([]);
  replace.mockRestore();
});

it.each(["QU\u00a0JD", "QUJ\u2028D", "QUJé", "QU JD=E", "\n"])("%j is no Base64", (content) => {
  expect(() => read(content)).toThrow(/must be Base64/);
});
