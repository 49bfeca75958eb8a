import fc from "fast-check";
import { Parser } from "htmlparser2";
import { expect, test } from "vitest";
import type { DesignBlock, DesignBrand, InnerBlock } from "./design.ts";
import { designToMjml } from "./design-to-mjml.ts";

const brand: DesignBrand = {
  text_color: null,
  background_color: null,
  accent_color: null,
  footer_text: "Shop",
  postal_address: null,
  logo_url: null,
};

const colour = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, "0")}`);
const maybe = fc.option(colour, { nil: undefined });

test("text and links that have no colour of their own can be read on what is behind them", () => {
  fc.assert(
    fc.property(
      fc.record({ text: maybe, accent: maybe, content: maybe, columns: maybe, own: maybe }),
      (chosen) => {
        const blocks = (): InnerBlock[] => [
          { type: "heading", text: "A", ...backed(chosen.own) },
          { type: "text", html: "B <a href='https://x.test'>C</a>", ...backed(chosen.own) },
          { type: "button", text: "D", url: "https://x.test", ...backed(chosen.own) },
          { type: "links", links: [{ text: "E", url: "https://x.test" }], ...backed(chosen.own) },
          { type: "html", html: "F", ...backed(chosen.own) },
          { type: "footer", ...backed(chosen.own) },
        ];
        const columns: DesignBlock = {
          type: "columns",
          columns: [{ blocks: blocks() }, { blocks: [{ type: "text", html: "G" }] }],
          ...backed(chosen.columns),
        };
        const settings = {
          ...(chosen.text !== undefined && { text_color: chosen.text }),
          ...(chosen.accent !== undefined && { accent_color: chosen.accent }),
          ...(chosen.content !== undefined && { content_color: chosen.content }),
        };
        const mjml = designToMjml({ version: 1, settings, blocks: [...blocks(), columns] }, brand);
        const texts = textsOf(mjml);
        expect(texts.map(({ text }) => text).join("")).toBe("ABCDEFShopUnsubscribeABCDEFShopUnsubscribeG");
        for (const { text, front, behind } of texts) {
          expect(contrast(front, behind), `${text}: ${front} on ${behind}`).toBeGreaterThanOrEqual(4.5);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a colour that can be read, and one that a block names itself, stay as they are", () => {
  const blocks: DesignBlock[] = [
    { type: "text", html: "A <a href='https://x.test'>B</a>" },
    { type: "heading", text: "C", color: "#eeeeee" },
  ];
  const settings = { text_color: "#333333", accent_color: "#0000aa" };
  const fronts = textsOf(designToMjml({ version: 1, settings, blocks }, brand)).map(({ front }) => front);
  expect(fronts).toEqual(["#333333", "#0000aa", "#eeeeee"]);
});

test("elements within merge tags stay as they were written", () => {
  const tag = `{{ a | default: "<p>x</p>" | replace: "<ul>", "<ol>" }}`;
  const html = `<p>A ${tag}</p><ul><li>B</li></ul>${tag}`;
  const mjml = designToMjml({ version: 1, blocks: [{ type: "text", html }] }, brand);
  expect(mjml.split(tag)).toHaveLength(3);
  expect(mjml).toMatch(/<p style="margin:0 0 12px">A .*<ul style="margin:0 0 12px;padding-left:24px"><li>B/);
});

function backed(background_color: string | undefined) {
  return background_color === undefined ? {} : { background_color };
}

/** The texts of a document with their colours, which elements inherit. */
function textsOf(mjml: string) {
  const open = [{ front: "#000000", behind: "#ffffff" }];
  const texts: { text: string; front: string; behind: string }[] = [];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const { front, behind } = open.at(-1) ?? { front: "", behind: "" };
        const style = /(?:^|;)color:(#\w+)/.exec(attributes["style"] ?? "")?.[1];
        const back = attributes["container-background-color"] ?? attributes["background-color"];
        const own = name === "mj-button" ? attributes["background-color"] : back;
        open.push({ front: style ?? attributes["color"] ?? front, behind: own ?? behind });
      },
      onclosetag: () => void open.pop(),
      ontext(text) {
        const colours = open.at(-1);
        if (/\w/.test(text) && colours !== undefined) texts.push({ text: text.trim(), ...colours });
      },
    },
    { xmlMode: true },
  );
  parser.end(mjml);
  return texts;
}

/** The ratio of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
