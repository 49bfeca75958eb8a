/** The brand of a workspace: what its pages and mails show of it. */
import { type Static, Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";
import { contrastOf, readHexColor, TEXT_CONTRAST, textOn } from "./contrast.ts";
import { standardColors } from "./page-colors.ts";
import { readHttpsUrl, readLine, readLines } from "./read-shown-text.ts";

const LONGEST_TEXT = 1_000;
const MOST_LINES = 10;
const LONGEST_URL = 500;

const color = (description: string) =>
  nullable(Type.String({ maxLength: 7, description: `${description} As #rrggbb or #rgb.` }));

const fields = {
  display_name: nullable(
    Type.String({ maxLength: LONGEST_NAME, description: "Name below the pages; null: none is shown." }),
  ),
  website: nullable(
    Type.String({
      maxLength: LONGEST_URL,
      description: "https address that the name links to; null for none.",
    }),
  ),
  logo_media_id: nullable(
    described(Id, "A picture of `/media`, shown above the text of pages; null for none."),
  ),
  accent_color: color("Colour of buttons; null: the service's blue."),
  background_color: color("Background of pages in light mode; null: white."),
  text_color: color(
    `Text of pages in light mode; null: nearly black. Its contrast with the background must be at least ${TEXT_CONTRAST}.`,
  ),
  footer_text: nullable(
    Type.String({
      maxLength: LONGEST_TEXT,
      description: `Plain text below pages and in the footer that is added to mail, at most ${MOST_LINES} lines; null for none.`,
    }),
  ),
  postal_address: nullable(
    Type.String({
      maxLength: LONGEST_TEXT,
      description: `Postal address of the sender, which laws such as CAN-SPAM require in advertising mail; shown with footer_text. At most ${MOST_LINES} lines; null for none.`,
    }),
  ),
};

export const Brand = Type.Object(
  {
    ...fields,
    logo_url: nullable(Type.String({ description: "The address of the logo." })),
    accent_text_color: Type.String({
      description: "The text colour on accent_color, which the service chooses for its contrast.",
    }),
    updated_at: nullable(
      Type.With(Timestamp, { description: "Time of the last change; null before the first." }),
    ),
  },
  { $id: "Brand" },
);

export const BrandChanges = Type.Partial(Type.Object(fields), { $id: "BrandChanges" });
type BrandChanges = Static<typeof BrandChanges>;

/** A brand as it is stored. */
export interface BrandSettings extends Required<BrandChanges> {
  /** The path of the logo's address, which is the same on every host. */
  logo_path: string | null;
}

export const noBrand: BrandSettings = {
  display_name: null,
  website: null,
  logo_media_id: null,
  logo_path: null,
  accent_color: null,
  background_color: null,
  text_color: null,
  footer_text: null,
  postal_address: null,
};

/** The brand as the API shows it. @param base a tracking domain or PUBLIC_URL, without a trailing slash */
export function shownBrand(
  { logo_path, ...brand }: BrandSettings,
  updated_at: Date | null,
  base: string,
): Static<typeof Brand> {
  return {
    ...brand,
    logo_url: logo_path && `${base}${logo_path}`,
    accent_text_color: textOn(brand.accent_color ?? standardColors.accent),
    updated_at,
  };
}

/** The brand after a change except its logo; omitted fields stay. @throws ApiError VALIDATION_ERROR */
export function changedBrand(held: BrandSettings, given: BrandChanges): BrandSettings {
  const brand = { ...held };
  for (const field of colorFields) {
    if (given[field] !== undefined) brand[field] = readColor(field, given[field]);
  }
  for (const field of ["footer_text", "postal_address"] as const) {
    if (given[field] !== undefined) brand[field] = readLines(field, given[field], MOST_LINES);
  }
  if (given.display_name !== undefined) brand.display_name = readLine("display_name", given.display_name);
  if (given.website !== undefined) brand.website = readHttpsUrl("website", given.website);
  requireContrast(brand);
  return brand;
}

const colorFields = ["accent_color", "background_color", "text_color"] as const;

function readColor(field: string, text: string | null): string | null {
  if (text === null) return null;
  const read = readHexColor(text);
  if (read === undefined) throw invalid({ field, message: `${field} must be a colour as #rrggbb or #rgb` });
  return read;
}

function requireContrast({ text_color, background_color }: BrandSettings): void {
  const contrast = contrastOf(text_color ?? standardColors.ink, background_color ?? standardColors.paper);
  if (contrast >= TEXT_CONTRAST) return;
  const field = text_color === null ? "background_color" : "text_color";
  throw invalid({
    field,
    message: `${field}: text_color and background_color have a contrast of ${contrast}; at least ${TEXT_CONTRAST} is needed (WCAG AA): choose a ${isDark(background_color) ? "lighter" : "darker"} text_color`,
  });
}

function isDark(background: string | null): boolean {
  return textOn(background ?? standardColors.paper) === "#ffffff";
}
