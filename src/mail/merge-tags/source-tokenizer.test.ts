import fc from "fast-check";
import { Tokenizer, type TopLevelToken } from "liquidjs";
import { expect, test } from "vitest";
import { SourceTokenizer } from "./source-tokenizer.ts";

const placesOf = (tokens: readonly TopLevelToken[]) =>
  tokens.map(({ kind, begin, end, trimLeft, trimRight }) => [kind, begin, end, trimLeft, trimRight]);

test("a template is split where LiquidJS splits it", () => {
  const piece = fc.constantFrom(
    "{{ a }}",
    "{%- if a -%}",
    "{{- a -}}",
    "{% raw %}",
    "{% endraw %}",
    "{",
    "%",
    " \n",
    "x",
    "}}",
    "é",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const source = pieces.join("");
      let expected: unknown;
      try {
        expected = placesOf(new Tokenizer(source).readTopLevelTokens());
      } catch {
        expect(() => new SourceTokenizer(source).readTopLevelTokens()).toThrow();
        return;
      }
      expect(placesOf(new SourceTokenizer(source).readTopLevelTokens())).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
