/** The code blocks of a page in docs/, in their order and without the indentation of a list. */
import { readFileSync } from "node:fs";

/** @param language such as `sh` */
export function guideBlocks(page: string, language: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  const fences = text.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms);
  return Array.from(fences, ([, indent = "", name, block = ""]) =>
    name === language ? block.replaceAll(new RegExp(`^${indent}`, "gm"), "") : [],
  ).flat();
}
