/** `npm run generate` writes the generated files. With `--check` it only lists stale files, and exits with 1 if there are any. */
import { readFile, writeFile } from "node:fs/promises";
import { generatedClientFiles } from "./generated-client.ts";
import { generatedFiles } from "./generated-files.ts";
import { endpointsForDocs } from "./processes/api.ts";

const root = new URL("../", import.meta.url);
const isCheck = process.argv.includes("--check");

const files = generatedFiles(endpointsForDocs());
for (const [path, text] of [...files, ...(await generatedClientFiles(files))]) {
  const present = await readFile(new URL(path, root), "utf8").catch(() => null);
  if (present === text) continue;
  process.stdout.write(`${path} ${isCheck ? "is stale: npm run generate" : "written"}\n`);
  if (isCheck) process.exitCode = 1;
  else await writeFile(new URL(path, root), text);
}
