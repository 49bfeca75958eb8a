/** Translates the tags of another product's templates into merge tags (docs/merge-tags.md). */

export interface Translation {
  readonly text: string;
  /** Tags that have no translation; they are unchanged in the text. */
  readonly untranslated: readonly string[];
}

const MOST_NAMED = 20;
const LONGEST_NAMED = 100;

/**
 * @param tags finds the tags; global
 * @param translate gives the merge tag for a match, or undefined
 */
export function translateTags(
  text: string,
  tags: RegExp,
  translate: (match: RegExpExecArray) => string | undefined,
): Translation {
  const untranslated = new Set<string>();
  let translated = "";
  let end = 0;
  for (const match of text.matchAll(tags)) {
    const [tag] = match;
    const merge = translate(match);
    if (merge === undefined) untranslated.add(tag.slice(0, LONGEST_NAMED));
    translated += literal(text.slice(end, match.index)) + (merge ?? tag);
    end = match.index + tag.length;
  }
  translated += literal(text.slice(end));
  return { text: translated, untranslated: [...untranslated].slice(0, MOST_NAMED) };
}

/** Text that is no tag of the product must not become one of ours. */
function literal(text: string): string {
  return text.replaceAll(/\{[{%]/g, "{% raw %}$&{% endraw %}");
}
