/** Writes a design as MJML, whose craft are tables that all mail programs lay out alike, and columns that stack on phones. */
import { escapeHtml } from "#mail/merge-tags/escape.ts";
import { escapedText } from "#mail/merge-tags/escaped-text.ts";
import { contentPlaces } from "#mail/mjml/join-mjml.ts";
import { contrastOf, mixed, TEXT_CONTRAST, textOn } from "#workspace/brand/contrast.ts";
import type { ColumnsBlock, Design, DesignBlock, DesignBrand, InnerBlock } from "./design.ts";
import { richText } from "./rich-text.ts";

const WIDTH = 600;
const TEXT_COLOUR = "#222222";
const BACKGROUND = "#f4f4f5";
const CONTENT_COLOUR = "#ffffff";
const ACCENT = "#2563eb";
const FOOTER_COLOUR = "#666666";

/** The typefaces, each with others for devices without it. */
const fontStacks: Readonly<Record<NonNullable<NonNullable<Design["settings"]>["font"]>, string>> = {
  arial: "Arial, Helvetica, sans-serif",
  helvetica: "Helvetica, Arial, sans-serif",
  verdana: "Verdana, Geneva, sans-serif",
  tahoma: "Tahoma, Geneva, sans-serif",
  trebuchet: "Trebuchet MS, Tahoma, sans-serif",
  georgia: "Georgia, Times New Roman, serif",
  times: "Times New Roman, Times, serif",
  courier: "Courier New, Courier, monospace",
};
const headingSizes = { 1: 30, 2: 24, 3: 19 } as const;
const columnWidths = { equal: [], "1:2": ["33.333%", "66.667%"], "2:1": ["66.667%", "33.333%"] } as const;

/** Of inner blocks, a top-level block, and a column. */
const usualPadding = { top: 10, right: 24, bottom: 10, left: 24 };

/** @param design as readDesign returned it */
export function designToMjml(design: Design, brand: DesignBrand): string {
  return new DesignWriter(design, brand).document();
}

class DesignWriter {
  readonly #design: Design;
  readonly #brand: DesignBrand;
  /** What text and links have where it is readable. */
  readonly #textColour: string;
  readonly #accent: string;

  constructor(design: Design, brand: DesignBrand) {
    this.#design = design;
    this.#brand = brand;
    this.#textColour = design.settings?.text_color ?? brand.text_color ?? TEXT_COLOUR;
    this.#accent = design.settings?.accent_color ?? brand.accent_color ?? ACCENT;
  }

  /** The colour of text that names none itself. */
  #textOn(behind: string): string {
    return [this.#textColour, TEXT_COLOUR].find((text) => isReadable(text, behind)) ?? textOn(behind);
  }

  document(): string {
    const { settings = {}, preheader, language, blocks } = this.#design;
    const background = settings.background_color ?? this.#brand.background_color ?? BACKGROUND;
    const body = attributes({ "background-color": background, width: `${settings.width ?? WIDTH}px` });
    const all = attributes({ "font-family": fontStacks[settings.font ?? "arial"] });
    const preview = preheader ? `<mj-preview>${escapedText(preheader)}</mj-preview>\n` : "";
    return `<mjml${attributes({ lang: language })}>
<mj-head>
${preview}<mj-attributes><mj-all${all} /><mj-section padding="0" /><mj-column padding="0" /></mj-attributes>
</mj-head>
<mj-body${body}>
${[...this.#logo(), ...blocks.map((block) => this.#section(block))].join("\n")}
</mj-body>
</mjml>`;
  }

  #logo(): string[] {
    const { logo_url: src } = this.#brand;
    if (src === null) return [];
    return [this.#section({ type: "image", src, alt: "", width: 160, align: "left" })];
  }

  #section(block: DesignBlock): string {
    // A layout's place for its content is between sections.
    if (block.type === "html" && isContentPlace(block.html)) return `<mj-raw>${block.html}</mj-raw>`;
    const content = block.background_color ?? this.#design.settings?.content_color ?? CONTENT_COLOUR;
    const columns = block.type === "columns" ? this.#columns(block, content) : this.#column([block], content);
    return `<mj-section${attributes({ "background-color": content })}>${columns}</mj-section>`;
  }

  #columns({ columns, ratio = "equal" }: ColumnsBlock, content: string): string {
    const widths = columns.length === 2 ? columnWidths[ratio] : [];
    return columns.map(({ blocks }, at) => this.#column(blocks, content, widths[at])).join("");
  }

  #column(blocks: readonly InnerBlock[], content: string, width?: string): string {
    const written = blocks.map((block) => this.#block(block, block.background_color ?? content));
    return `<mj-column${attributes({ width })}>${written.join("\n")}</mj-column>`;
  }

  /** @param behind the colour behind the block */
  #block(block: InnerBlock, behind: string): string {
    const { top, right, bottom, left } = { ...usualPadding, ...block.padding };
    const box = {
      padding: `${top}px ${right}px ${bottom}px ${left}px`,
      "container-background-color": block.background_color,
    };
    switch (block.type) {
      case "text": {
        const { html, font_size = 16, color = this.#textOn(behind), align = "left" } = block;
        const text = attributes({
          ...box,
          align,
          color,
          "font-size": `${font_size}px`,
          "line-height": "1.5",
        });
        return `<mj-text${text}>${richText(html, linkStyle(readable(this.#accent, behind)))}</mj-text>`;
      }
      case "heading": {
        const { text, level = 2, color = this.#textOn(behind), align = "left" } = block;
        const size = headingSizes[level as keyof typeof headingSizes];
        const look = attributes({ ...box, align, color, "font-size": `${size}px`, "line-height": "1.25" });
        return `<mj-text${look}><h${level} style="margin:0;font-size:${size}px;line-height:1.25;font-weight:bold">${escapedText(text)}</h${level}></mj-text>`;
      }
      case "button": {
        const { text, url, align = "left", button_color = this.#accent, radius = 4 } = block;
        const look = {
          ...box,
          align,
          "background-color": button_color,
          color: block.color ?? textOn(button_color),
          "border-radius": `${radius}px`,
          "font-size": "16px",
          "inner-padding": "12px 24px",
          width: block.is_full_width ? "100%" : undefined,
        };
        return `<mj-button${attributes(look)} href="${escapedText(url)}">${escapedText(text)}</mj-button>`;
      }
      case "image": {
        const { src, alt, url, width, align = "left" } = block;
        const size = width === undefined ? undefined : `${width}px`;
        const link = url === undefined ? "" : ` href="${escapedText(url)}"`;
        return `<mj-image${attributes({ ...box, align, width: size })} src="${escapedText(src)}" alt="${escapedText(alt)}"${link} />`;
      }
      case "divider": {
        const { color = "#dddddd", thickness = 1 } = block;
        return `<mj-divider${attributes({ ...box, "border-color": color, "border-width": `${thickness}px` })} />`;
      }
      case "spacer":
        return `<mj-spacer${attributes({ ...box, padding: "0", height: `${block.height}px` })} />`;
      case "links": {
        const { links, align = "left", color = readable(this.#accent, behind) } = block;
        const written = links.map(({ text, url, icon_src }) => {
          const shown =
            icon_src === undefined
              ? escapedText(text)
              : `<img src="${escapedText(icon_src)}" alt="${escapedText(text)}" height="24" style="display:inline-block;height:24px;border:0">`;
          return `<a href="${escapedText(url)}" style="${linkStyle(color)}">${shown}</a>`;
        });
        const look = attributes({ ...box, align, "font-size": "15px", "line-height": "1.8" });
        return `<mj-text${look}>${written.join(" &nbsp; ")}</mj-text>`;
      }
      case "footer":
        return this.#footer(block, box, behind);
      case "html":
        return `<mj-text${attributes({ ...box, color: this.#textOn(behind) })}>${block.html}</mj-text>`;
    }
  }

  #footer(block: Extract<InnerBlock, { type: "footer" }>, box: Attributes, behind: string): string {
    const {
      html,
      has_unsubscribe = true,
      unsubscribe_text = "Unsubscribe",
      has_web_view = false,
      web_view_text = "View in browser",
      align = "center",
      color = readable(FOOTER_COLOUR, behind),
    } = block;
    const link = (name: string, text: string) =>
      `<a href="{{ ${name} }}" style="${linkStyle(color)}">${escapedText(text)}</a>`;
    const links = [
      ...(has_unsubscribe ? [link("unsubscribe_url", unsubscribe_text)] : []),
      ...(has_web_view ? [link("view_in_browser_url", web_view_text)] : []),
    ];
    const text = html === undefined ? this.#brandFooter() : richText(html, linkStyle(color));
    const way = links.length === 0 ? "" : `<p style="margin:0">${links.join(" &nbsp; ")}</p>`;
    const look = attributes({ ...box, align, color, "font-size": "13px", "line-height": "1.6" });
    return `<mj-text${look}>${text}${way}</mj-text>`;
  }

  /** Text of the brand is no template. */
  #brandFooter(): string {
    const { footer_text, postal_address } = this.#brand;
    return [footer_text, postal_address]
      .filter((text) => text !== null && text.trim() !== "")
      .map((text) => `<p style="margin:0 0 8px">${verbatim(escapeHtml(text).replaceAll("\n", "<br>"))}</p>`)
      .join("");
  }
}

type Attributes = Readonly<Record<string, string | undefined>>;

/** Values without merge tags: sizes, colours and choices. */
function attributes(values: Attributes): string {
  return Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : ` ${name}="${escapeHtml(value)}"`))
    .join("");
}

function linkStyle(colour: string): string {
  return `color:${colour};text-decoration:underline`;
}

/** Whether a text is the place of a layout for its content, and nothing else. */
function isContentPlace(html: string): boolean {
  const [place] = contentPlaces(html);
  return place !== undefined && html.slice(place.start, place.end) === html.trim();
}

/** A text whose braces are no merge tags. */
function verbatim(text: string): string {
  return text.includes("{{") || text.includes("{%")
    ? `{% raw %}${text.replaceAll("{%", "{&#37;")}{% endraw %}`
    : text;
}

/** Shares of black or white in a colour that is made readable. */
const SHARES = [0.2, 0.4, 0.6, 0.8];

/** A colour, or the one nearest to it that can be read on another one. */
function readable(colour: string, behind: string): string {
  if (isReadable(colour, behind)) return colour;
  const most = textOn(behind);
  const nearer = SHARES.map((share) => mixed(colour, most, share));
  return nearer.find((one) => isReadable(one, behind)) ?? most;
}

function isReadable(colour: string, behind: string): boolean {
  return contrastOf(colour, behind) >= TEXT_CONTRAST;
}
