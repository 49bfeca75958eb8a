/** The colours of a page with a brand, as custom properties of its style. In dark mode only the accent is the brand's. */
import { contrastOf, EDGE_CONTRAST, mixed, TEXT_CONTRAST, textOn } from "./contrast.ts";

/** The colours of pages without a brand, in light mode (platform/http/response/html-page.ts). */
export const standardColors = { ink: "#1b1f24", paper: "#ffffff", accent: "#0b5cad" } as const;
const darkColors = { ink: "#e8eaed", soft: "#a3abb5", paper: "#1d2126" } as const;

/** How much of the background is in soft text, the softest first. */
const SOFTNESS = [0.3, 0.2, 0.1, 0];

/** The colours of a brand as `#rrggbb`; null for the standard ones. */
interface BrandColors {
  readonly accent_color: string | null;
  readonly background_color: string | null;
  readonly text_color: string | null;
}

/** CSS that overrides the standard colours; empty without colours of the brand. */
export function pageColors({ accent_color: accent, background_color, text_color }: BrandColors): string {
  const paper = background_color ?? standardColors.paper;
  const ink = text_color ?? standardColors.ink;
  const hasSurface = background_color !== null || text_color !== null;
  if (!hasSurface && accent === null) return "";
  const ground = groundOf(paper, ink);
  const soft = softest(ink, [paper, ground]);
  const surface = hasSurface ? { ink, soft, paper, ground } : {};
  const light = { ...surface, ...accentColors(accent ?? standardColors.accent, { ink, soft, paper }) };
  const dark = accent === null ? {} : accentColors(accent, darkColors);
  // The standard dark colours are in a media query before this style, which must not be overridden by light ones.
  return `@media (prefers-color-scheme: light) { ${rootRule(light)} }
@media (prefers-color-scheme: dark) { ${rootRule(dark)} }
`;
}

function rootRule(colors: Readonly<Record<string, string>>): string {
  return `:root { ${Object.entries(colors)
    .map(([name, value]) => `--${name}: ${value}`)
    .join("; ")} }`;
}

/** The page around the card: a little darker or lighter than the card, if the text stays readable on it. */
function groundOf(paper: string, ink: string): string {
  const ground = mixed(paper, ink, 0.05);
  return contrastOf(ink, ground) >= TEXT_CONTRAST ? ground : paper;
}

function softest(ink: string, backgrounds: readonly string[]): string {
  const soft = SOFTNESS.map((share) => mixed(ink, backgrounds[0] ?? ink, share)).find((color) =>
    backgrounds.every((background) => contrastOf(color, background) >= TEXT_CONTRAST),
  );
  return soft ?? ink;
}

/** A button whose colour is close to that of the card gets an edge, and the focus ring another colour. */
function accentColors(
  accent: string,
  { ink, soft, paper }: Readonly<Record<"ink" | "soft" | "paper", string>>,
): Record<"accent" | "on-accent" | "edge" | "focus", string> {
  const isDistinct = contrastOf(accent, paper) >= EDGE_CONTRAST;
  return {
    accent,
    "on-accent": textOn(accent),
    edge: isDistinct ? accent : soft,
    focus: isDistinct ? accent : ink,
  };
}
