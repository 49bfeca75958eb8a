/**
 * Writes the program as JavaScript, file by file, because Node.js strips no types below `node_modules`. Types become spaces, as
 * when Node.js runs the sources: lines and columns of stack traces are those of the sources.
 */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import ts from "typescript";

/** What only a checkout runs: tests, and the programs that make generated files and the console. */
const notInPackage =
  /\.test\.ts$|^(?:build-console|generate|generated-\w+)\.ts$|^openapi-examples\.json$|\.md$/;

/**
 * @param source folder of the TypeScript sources and of the data files beside them
 * @param target folder that is made
 * @param imports names of folders in imports (`#mail/*`), with their targets (`./src/mail/*`), as package.json has them
 * @throws Error if a file has the name of a TypeScript file where it cannot be followed
 */
export async function writeProgram(
  source: string,
  target: string,
  imports: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(source, "/").length))
    .filter((path) => !notInPackage.test(path));
  const folders = new Set(paths.map((path) => dirname(join(target, path))));
  await Promise.all([...folders].map((folder) => mkdir(folder, { recursive: true })));
  await Promise.all(
    paths.map(async (path) => {
      if (!path.endsWith(".ts")) return copyFile(join(source, path), join(target, path));
      const text = toJavaScript(path, await readFile(join(source, path), "utf8"), paths);
      return writeFile(join(target, inJavaScript(path)), text);
    }),
  );
  // Node.js takes the imports of the nearest package.json.
  const ownImports = Object.entries(imports)
    .filter(([, folder]) => folder.startsWith("./src/"))
    .map(([name, folder]) => [name, folder.replace("./src/", "./")]);
  const manifest = { type: "module", imports: Object.fromEntries(ownImports) };
  await writeFile(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * The file without types, with the names of other files as they are in JavaScript.
 * @param paths the files of the program
 */
export function toJavaScript(path: string, text: string, paths: readonly string[]): string {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  let named = text;
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && node.text.endsWith(".ts")) {
      if (isNameOfModule(node)) {
        // As long as before: the other positions remain.
        named = `${named.slice(0, node.getStart() + 1)}${inJavaScript(node.text)}${named.slice(node.getEnd() - 1)}`;
      } else if (paths.includes(join(dirname(path), node.text))) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        const problem = "names a file of the program in no import and no new URL(…, import.meta.url)";
        throw new Error(`${path}:${line + 1}: ${node.getText()} ${problem}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return stripTypeScriptTypes(named);
}

function isNameOfModule({ parent }: ts.Node): boolean {
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return true;
  // In types, such as `typeof import("./x.ts")`, which are stripped.
  if (ts.isLiteralTypeNode(parent)) return true;
  if (ts.isCallExpression(parent)) return parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return ts.isNewExpression(parent) && parent.arguments?.[1]?.getText() === "import.meta.url";
}

const inJavaScript = (path: string) => path.replace(/\.ts$/, ".js");
