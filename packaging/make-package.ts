/** `npm pack` calls it: writes `lib/`, the program in JavaScript, which `postpack` removes. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeProgram } from "./program-in-javascript.ts";

const checkout = join(import.meta.dirname, "..");
const { imports } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
const lib = join(checkout, "lib");
await rm(lib, { recursive: true, force: true });
await writeProgram(join(checkout, "src"), lib, imports);
