/**
 * Errors, logs, the console, the API's descriptions, the docs and the comments use the field's words. plain-words.json lists words of a
 * former dialect, each with what to write instead.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import list from "./plain-words.json" with { type: "json" };

const root = resolve(import.meta.dirname, "..");
const allowed: Readonly<Record<string, readonly string[]>> = list.allowed;
const words = Object.entries(list.words).map(([word, better]) => ({
  word,
  better,
  pattern: new RegExp(`\\b${word.replaceAll(" ", "\\s+")}\\b`, "i"),
}));

/** The words of a text that are on the list, as messages. `place` is where the text begins: path:line. */
function dialectIn(text: string, place: string): string[] {
  const path = place.split(":")[0] ?? "";
  return words
    .filter(({ word, pattern }) => pattern.test(text) && !allowed[path]?.includes(word))
    .map(({ word, better }) => `${place} says "${word}": write ${better}`);
}

const sources = ["src", "console/src"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  )
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
  });

type Source = (typeof sources)[number];

const placeOf = ({ path, tree }: Source, position: number) =>
  `${path}:${tree.getLineAndCharacterOfPosition(position).line + 1}`;

function textsIn(source: Source): { readonly text: string; readonly place: string }[] {
  const found: { text: string; place: string }[] = [];
  const visit = (node: ts.Node) => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node) ||
      ts.isJsxText(node)
    )
      found.push({ text: node.text, place: placeOf(source, node.getStart()) });
    ts.forEachChild(node, visit);
  };
  visit(source.tree);
  return found.filter(({ text }) => text.includes(" "));
}

function commentsIn(source: Source): { readonly text: string; readonly place: string }[] {
  const { text, tree } = source;
  const found = new Map<number, { text: string; place: string }>();
  const visit = (node: ts.Node) => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of ranges)
      found.set(pos, { text: text.slice(pos, end).replaceAll(/\n\s*\*/g, " "), place: placeOf(source, pos) });
    for (const child of node.getChildren(tree)) visit(child);
  };
  visit(tree);
  return [...found.values()];
}

const isTest = ({ path }: Source) => path.endsWith(".test.ts");
/** Words of mail servers and of other people's files. */
const isData = ({ path }: Source) => list.data.some((prefix) => path.startsWith(prefix));

test("errors, logs, pages and mails use the field's words", () => {
  const read = sources.filter((source) => !isTest(source) && !isData(source));
  expect(read.flatMap(textsIn).flatMap(({ text, place }) => dialectIn(text, place))).toEqual([]);
});

test("the API's descriptions use the field's words", () => {
  const { paths, components } = JSON.parse(readFileSync(join(root, "openapi.json"), "utf8"));
  const found: string[] = [];
  const visit = (value: unknown, name: string) => {
    if (typeof value === "string" && ["summary", "description"].includes(name))
      found.push(...dialectIn(value, `openapi.json (${value.slice(0, 40)}…)`));
    if (typeof value === "object" && value !== null)
      for (const [key, child] of Object.entries(value)) visit(child, key);
  };
  visit({ paths, components }, "");
  expect(found).toEqual([]);
});

test("the docs use the field's words", () => {
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  const found = [...pages, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].flatMap((path) =>
    readFileSync(join(root, path), "utf8")
      .split("\n")
      .flatMap((line, index) => dialectIn(line, `${path}:${index + 1}`)),
  );
  expect(found).toEqual([]);
});

test("comments use the field's words", () => {
  expect(sources.flatMap(commentsIn).flatMap(({ text, place }) => dialectIn(text, place))).toEqual([]);
});
