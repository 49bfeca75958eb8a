/** The console is a plain client of the API: what its sources may not have. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../console/src");
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(?:tsx?|css)$/.test(name) && !name.endsWith(".test.ts"))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** The lines of the sources, without comments, in which `pattern` occurs, as path:line. */
function linesWith(pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, at) =>
        pattern.test(line) && !/^\s*(?:\*|\/[/*])/.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [],
      ),
  );
}

describe("the sources of the console", () => {
  test("are found", () => {
    expect(files.length).toBeGreaterThan(40);
  });

  test("name no permission: mayCall asks the contract", () => {
    expect(linesWith(/["'`][\w*]+:(?:read|write|send|manage)["'`]/)).toEqual([]);
  });

  test("import nothing of the service", () => {
    expect(linesWith(/(?:from|import\()\s*["'](?:#|[./]*\/src\/|(?:\.\.\/)+(?:src|test|bin|db)\/)/)).toEqual(
      [],
    );
  });

  test("load nothing from another host", () => {
    expect(
      linesWith(
        /\b(?:import|from|url\(|fetch\(|EventSource\(|src=|href=)\s*[({]?\s*["'`]?(?:https?:)?\/\/\w/,
      ),
    ).toEqual([]);
  });

  test("make no markup out of text", () => {
    expect(
      linesWith(
        /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|srcDoc/,
      ),
    ).toEqual([]);
  });

  test("speak plainly: no exclamation marks, no apologies", () => {
    const wrong = files
      .filter(({ path }) => !path.endsWith(".css"))
      .flatMap(({ path, text }) =>
        textsIn(path, text).filter((one) => /\w!(?:\s|$)|\boops\b|\bsorry\b/i.test(one)),
      );
    expect(wrong).toEqual([]);
  });
});

/** Texts between tags, and strings of several words. */
function textsIn(path: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isJsxText(node)) found.push(node.text.trim());
    // Words of Tailwind may end with an exclamation mark.
    if (ts.isStringLiteralLike(node) && / /.test(node.text) && !isClassName(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX));
  return found.filter((one) => one !== "");
}

function isClassName(node: ts.Node): boolean {
  for (let one: ts.Node | undefined = node; one !== undefined; one = one.parent) {
    if (ts.isJsxAttribute(one)) return /class/i.test(one.name.getText());
  }
  return false;
}
