/**
 * Compiles MJML to HTML. Merge tags come out as they were written, in attributes too, and those between elements stay between
 * what the elements become. It reads no files and asks no server. It may take long: it runs in a thread.
 */
import { createRequire } from "node:module";
import type { MjmlError } from "mjml-core";
import preset from "mjml-preset-core";
import type { PlacedFault } from "#mail/merge-tags/template-errors.ts";
import { withInsertions } from "#mail/merge-tags/template-pieces.ts";
import { MarkedSource } from "./marked-source.ts";
import { type MjmlElement, readMjml } from "./read-mjml.ts";

/** Loaded by name, because its default export is a different one to Node.js and to the test runner. */
const { default: mjml2html } = createRequire(import.meta.url)("mjml-core") as typeof import("mjml-core");

/** The faults have offsets in the source. */
export type CompiledMjml =
  | { readonly ok: true; readonly html: string }
  | { readonly ok: false; readonly faults: readonly PlacedFault[] };

const LOST = "This merge tag has no effect here: MJML shows nothing of it.";

/** @param source a template without faults (readTemplate) */
export async function compileMjml(source: string): Promise<CompiledMjml> {
  const marked = new MarkedSource(source);
  const { faults, wraps, root, body, elements } = readMjml(marked);
  const inSource = faults.map(({ at, message }) => ({ at: marked.offsetOf(at), message }));
  if (inSource.length > 0) return { ok: false, faults: inSource };
  if (root === null || body === null) {
    return { ok: false, faults: [{ at: 0, message: "Write this as <mjml><mj-body>…</mj-body></mjml>." }] };
  }
  const compiled = await tryToCompile(withInsertions(marked.text, wraps));
  if (!compiled.ok) return { ok: false, faults: [{ at: 0, message: compiled.message }] };
  const wrong = compiled.errors
    .filter((error) => !isColourOfTag(error, marked))
    .map((error) => ({
      at: marked.offsetOf(placeOf(error, marked.text, elements)),
      message: `${marked.restore(error.message).trim()}.`,
    }));
  if (wrong.length > 0) return { ok: false, faults: wrong };
  const lost = marked.missingIn(compiled.html).map((at) => ({ at, message: LOST }));
  if (lost.length > 0) return { ok: false, faults: lost };
  return { ok: true, html: marked.restore(compiled.html) };
}

async function tryToCompile(source: string) {
  try {
    const { html, errors } = await mjml2html(source, {
      presets: [preset],
      // By default MJML loads its fonts from Google, which would learn who opens the mail.
      fonts: {},
      ignoreIncludes: true,
      filePath: "",
      validationLevel: "soft",
    });
    return { ok: true, html, errors } as const;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { ok: false, message: `MJML cannot compile this: ${said}` } as const;
  }
}

/** MJML passes colours on as they are, so a merge tag may be one. Sizes it computes with. */
function isColourOfTag({ message }: MjmlError, marked: MarkedSource): boolean {
  return marked.hasMark(message) && /has invalid value: .* for type Color\b/s.test(message);
}

/**
 * The offset of the element that MJML finds wrong. MJML says its name and line; of several in the line it is the first that has the
 * attribute, or is in the element, of which the message speaks.
 */
function placeOf(
  { line, tagName, message }: MjmlError,
  text: string,
  elements: readonly MjmlElement[],
): number {
  let lineStart = 0;
  for (let count = 1; count < line; count++) lineStart = text.indexOf("\n", lineStart) + 1;
  const lineEnd = text.indexOf("\n", lineStart);
  const inLine = elements.filter(
    ({ name, start }) => name === tagName && start >= lineStart && (lineEnd < 0 || start < lineEnd),
  );
  const attribute = /^Attributes? ([\w-]+)/.exec(message)?.[1] ?? "";
  const parent = / cannot be used inside ([\w-]+)/.exec(message)?.[1];
  const fits = (one: MjmlElement) =>
    text.slice(one.start, one.end).includes(attribute) && (parent === undefined || one.parent === parent);
  return (inLine.find(fits) ?? inLine[0])?.start ?? lineStart + text.slice(lineStart).search(/\S|$/);
}
