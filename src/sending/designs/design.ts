/**
 * The design of a mail: a document of blocks that an editor writes and the service compiles (design-to-mjml.ts). A block has
 * plain values, texts with merge tags, and rich text in a small part of HTML (rich-text.ts).
 */
import { type Static, Type } from "typebox";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import { DOCUMENTED_AS, patterned } from "#platform/shapes.ts";

/** Blocks of a design, those in columns included. */
export const MOST_BLOCKS = 200;
const MOST_IN_COLUMN = 30;
const MOST_LINKS = 20;
const LONGEST_LINE = 500;
const LONGEST_ADDRESS = 2_000;
const LONGEST_RICH_TEXT = 20_000;
const LONGEST_RAW_HTML = 100_000;

const pixels = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description: `${description}, in pixels.` }));
const colour = (description: string) =>
  Type.Optional(
    patterned("^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", "a colour such as #1a2b3c", { description }),
  );
const line = (description: string) => Type.String({ minLength: 1, maxLength: LONGEST_LINE, description });
const address = (description: string) =>
  Type.String({ minLength: 1, maxLength: LONGEST_ADDRESS, description });
const richText = (description: string) =>
  Type.String({
    maxLength: LONGEST_RICH_TEXT,
    description: `${description} May hold merge tags and the elements p, br, b, strong, i, em, u, s, a, ul, ol and li; of other HTML only the text is kept.`,
  });
const align = Type.Optional(
  Type.Enum(["left", "center", "right"], { description: "Where it stands; default: left." }),
);

/** Fields that every block may have. */
const common = {
  id: Type.Optional(
    Type.String({ maxLength: 64, description: "The editor's own name of the block; it has no effect." }),
  ),
  background_color: colour("Colour behind the block; by default that of the mail."),
  padding: Type.Optional(
    Type.Object(
      {
        top: pixels(0, 100, "Space above"),
        right: pixels(0, 100, "Space to the right"),
        bottom: pixels(0, 100, "Space below"),
        left: pixels(0, 100, "Space to the left"),
      },
      { additionalProperties: false, description: "Space around the content." },
    ),
  ),
};
const block = <Name extends string, Fields extends Parameters<typeof Type.Object>[0]>(
  type: Name,
  $id: string,
  description: string,
  fields: Fields,
) =>
  Type.Object(
    { type: Type.Literal(type, { description: "The kind of block." }), ...fields, ...common },
    { $id, description, additionalProperties: false },
  );

const TextBlock = block("text", "TextBlock", "Running text.", {
  html: richText("The text."),
  align,
  color: colour("Colour of the text; default: the brand's."),
  font_size: pixels(10, 40, "Size of the letters, 16 by default"),
});

const HeadingBlock = block("heading", "HeadingBlock", "A heading.", {
  text: line("The heading. May hold merge tags."),
  level: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 3, description: "1 is the largest; default: 2." }),
  ),
  align,
  color: colour("Colour of the heading; default: the brand's."),
});

const ButtonBlock = block("button", "ButtonBlock", "A link in the form of a button.", {
  text: line("The words on the button. May hold merge tags."),
  url: address("Where it leads: http, https, mailto or tel. May hold merge tags."),
  align,
  color: colour("Colour of the words; by default black or white, whichever is easier to read."),
  button_color: colour("Colour of the button; default: the brand's accent."),
  radius: pixels(0, 50, "Radius of the corners, 4 by default"),
  is_full_width: Type.Optional(Type.Boolean({ description: "Whether it is as wide as its place." })),
});

const ImageBlock = block("image", "ImageBlock", "A picture.", {
  src: address("Address of the picture: http, https, or cid of an inline attachment. May hold merge tags."),
  alt: Type.String({
    maxLength: LONGEST_LINE,
    description: "What it shows, for people who do not see it; empty for mere decoration.",
  }),
  url: Type.Optional(address("Where a click leads. May hold merge tags.")),
  width: pixels(16, 1200, "Width, at most that of its place, which is the default"),
  align,
});

const DividerBlock = block("divider", "DividerBlock", "A line across.", {
  color: colour("Colour of the line; default: #dddddd."),
  thickness: pixels(1, 20, "Thickness of the line, 1 by default"),
});

const SpacerBlock = block("spacer", "SpacerBlock", "Empty space.", {
  height: Type.Integer({ minimum: 1, maximum: 200, description: "Height, in pixels." }),
});

const LinksBlock = block("links", "LinksBlock", "Several links in a row, such as those to social networks.", {
  links: Type.Array(
    Type.Object(
      {
        text: line("The words of the link. May hold merge tags."),
        url: address("Where it leads. May hold merge tags."),
        icon_src: Type.Optional(address("Address of a picture in place of the words, 24 pixels high.")),
      },
      { additionalProperties: false, description: "One link." },
    ),
    { minItems: 1, maxItems: MOST_LINKS, description: "The links in order." },
  ),
  align,
  color: colour("Colour of the words; default: the brand's accent."),
});

const FooterBlock = block(
  "footer",
  "FooterBlock",
  "The end of the mail: who sends it, and the way to unsubscribe.",
  {
    html: Type.Optional(richText("What it says; default: the brand's footer text and postal address.")),
    has_unsubscribe: Type.Optional(
      Type.Boolean({
        description:
          "Whether it has the unsubscribe link; default: true. False is for mail that a person caused, such as receipts.",
      }),
    ),
    unsubscribe_text: Type.Optional(line("The words of that link; default: Unsubscribe.")),
    has_web_view: Type.Optional(
      Type.Boolean({ description: "Whether it links the mail in a browser; default: false." }),
    ),
    web_view_text: Type.Optional(line("The words of that link; default: View in browser.")),
    align,
    color: colour("Colour of the text; default: #666666."),
  },
);

const HtmlBlock = block("html", "HtmlBlock", "HTML as it is, for what no other block can do.", {
  html: Type.String({
    maxLength: LONGEST_RAW_HTML,
    description: "The HTML. May hold merge tags. Nothing in it is changed or removed.",
  }),
});

/** The blocks that may stand in a column. */
export const innerBlocks = {
  text: TextBlock,
  heading: HeadingBlock,
  button: ButtonBlock,
  image: ImageBlock,
  divider: DividerBlock,
  spacer: SpacerBlock,
  links: LinksBlock,
  footer: FooterBlock,
  html: HtmlBlock,
};

export type InnerBlock = {
  [Kind in keyof typeof innerBlocks]: Static<(typeof innerBlocks)[Kind]>;
}[keyof typeof innerBlocks];

/** Blocks are read one by one (read-design.ts), so that an error names the field of the block. */
const blocks = (shapes: readonly object[], maxItems: number, description: string) =>
  Type.Array(Type.Unsafe<unknown>({ [DOCUMENTED_AS]: { anyOf: shapes } }), { maxItems, description });

export const ColumnsBlock = block(
  "columns",
  "ColumnsBlock",
  "Two or three columns side by side, one below the other on a phone.",
  {
    columns: Type.Array(
      Type.Object(
        { blocks: blocks(Object.values(innerBlocks), MOST_IN_COLUMN, "The blocks of the column, in order.") },
        { additionalProperties: false, description: "One column." },
      ),
      { minItems: 2, maxItems: 3, description: "The columns, from the left." },
    ),
    ratio: Type.Optional(
      Type.Enum(["equal", "1:2", "2:1"], {
        description: "Widths; `1:2` and `2:1` are for two columns. Default: equal.",
      }),
    ),
  },
);
export interface ColumnsBlock extends Omit<Static<typeof ColumnsBlock>, "columns"> {
  readonly columns: readonly { readonly blocks: readonly InnerBlock[] }[];
}
export type DesignBlock = InnerBlock | ColumnsBlock;

const fonts = [
  "arial",
  "helvetica",
  "verdana",
  "tahoma",
  "trebuchet",
  "georgia",
  "times",
  "courier",
] as const;

export const DesignDocument = Type.Object(
  {
    version: Type.Literal(1, { description: "Version of the form of designs: 1." }),
    preheader: Type.Optional(
      Type.String({
        maxLength: LONGEST_SUBJECT,
        description: "The text that lists of mail show beside the subject. May hold merge tags.",
      }),
    ),
    language: Type.Optional(
      patterned("^[a-zA-Z]{2,8}(?:-[a-zA-Z0-9]{1,8}){0,3}$", "a language tag such as en or pt-BR", {
        description: "Language of the mail, for screen readers; none by default.",
      }),
    ),
    settings: Type.Optional(
      Type.Object(
        {
          width: pixels(320, 800, "Width of the mail, 600 by default"),
          font: Type.Optional(
            Type.Enum([...fonts], {
              description:
                "The typeface. All are present on most devices, so none is loaded. Default: arial.",
            }),
          ),
          text_color: colour("Colour of text and headings; default: the brand's."),
          accent_color: colour("Colour of links and buttons; default: the brand's."),
          background_color: colour("Colour around the mail; default: the brand's."),
          content_color: colour("Colour behind the blocks; default: #ffffff."),
        },
        {
          additionalProperties: false,
          description:
            "What applies to all blocks. Where text or links in these colours could not be read on what is behind them, they get another colour.",
        },
      ),
    ),
    blocks: blocks(
      [...Object.values(innerBlocks), ColumnsBlock],
      MOST_BLOCKS,
      `The blocks from the top, at most ${MOST_BLOCKS} with those in columns.`,
    ),
  },
  {
    $id: "Design",
    additionalProperties: false,
    description: "The design of a mail: blocks, from the top. Above the first one is the logo of the brand.",
  },
);
export interface Design extends Omit<Static<typeof DesignDocument>, "blocks"> {
  readonly blocks: readonly DesignBlock[];
}

/** What a workspace gives all its mails. Texts and colours that a design has itself come first. */
export interface DesignBrand {
  /** As #rrggbb; null for the usual colour. */
  readonly text_color: string | null;
  readonly background_color: string | null;
  readonly accent_color: string | null;
  /** Plain text; null for none. */
  readonly footer_text: string | null;
  readonly postal_address: string | null;
  /** Shown above the first block; null for none. */
  readonly logo_url: string | null;
}
