/**
 * Makes client-support.json from the data of Can I email (MIT): for each feature of HTML and CSS, what to look for, and the
 * mail programs that ignore it in their newest tested version.
 */

interface CanIEmail {
  readonly nicenames: {
    readonly family: Readonly<Record<string, string>>;
    readonly platform: Readonly<Record<string, string>>;
  };
  readonly data: readonly {
    readonly slug: string;
    readonly title: string;
    readonly category: string;
    readonly stats: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;
  }[];
}

/** Features whose search is not that of their kind; null: not looked for, because every mail has it, or it cannot be found reliably. */
const special: Readonly<Record<string, readonly string[] | null>> = {
  "css-at-media-device-pixel-ratio": null,
  "css-block-inline-size": ["property block-size", "property inline-size"],
  "css-border-inline-block-individual": null,
  "css-border-inline-block-longhand": null,
  "css-border-inline-block": ["property border-inline", "property border-block"],
  "css-border-radius-logical": ["property border-start-start-radius", "property border-end-end-radius"],
  "css-column-layout-properties": ["property columns", "property column-width", "property column-rule"],
  "css-display-flex": ["value display flex"],
  "css-display-grid": ["value display grid"],
  "css-display-none": ["value display none"],
  "css-flex-direction": ["property flex-direction"],
  "css-gap": ["property gap", "property column-gap", "property row-gap"],
  "css-grid-template": [
    "property grid-template-columns",
    "property grid-template-rows",
    "property grid-template-areas",
  ],
  "css-left-right-top-bottom": ["property left", "property right", "property top", "property bottom"],
  "css-margin-block-start-end": ["property margin-block-start", "property margin-block-end"],
  "css-margin-inline-block": ["property margin-inline", "property margin-block"],
  "css-margin-inline-start-end": ["property margin-inline-start", "property margin-inline-end"],
  "css-padding-block-start-end": ["property padding-block-start", "property padding-block-end"],
  "css-padding-inline-block": ["property padding-inline", "property padding-block"],
  "css-padding-inline-start-end": ["property padding-inline-start", "property padding-inline-end"],
  "css-scroll-snap": ["property scroll-snap-type"],
  "css-conic-gradient": ["function conic-gradient"],
  "css-linear-gradient": ["function linear-gradient"],
  "css-radial-gradient": ["function radial-gradient"],
  "css-modern-color": ["function lch", "function oklch", "function lab", "function oklab"],
  "css-unit-calc": ["function calc"],
  "css-rgb": ["function rgb"],
  "css-rgba": ["function rgba"],
  "css-variables": ["function var"],
  "html-svg": ["element svg"],
  "html-base": ["element base"],
  "html-loading-attribute": ["attribute loading"],
  "html-srcset": ["attribute srcset"],
  "html-semantics": ["element article", "element aside", "element main", "element nav", "element section"],
};
const searches = {
  property: /^css-([a-z-]+)$/,
  pseudo: /^css-pseudo-(?:class|element)-([a-z-]+)$/,
  at: /^css-at-(font-face|import|keyframes|media|supports)$/,
  function: /^css-function-([a-z-]+)$/,
};
/** Slugs that begin like a property and are none. */
const noProperty =
  /^css-(?:at-|pseudo-|function-|selector-|unit-|important$|comments$|nesting$|inert-|intrinsic|sytem-ui)/;

export function compactSupport(source: CanIEmail): string {
  const programs: string[] = [];
  const indexOf = (family: string, platform: string) => {
    const { nicenames } = source;
    const name = `${nicenames.family[family] ?? family} (${nicenames.platform[platform] ?? platform})`;
    if (!programs.includes(name)) programs.push(name);
    return programs.indexOf(name);
  };
  const features = source.data.flatMap(({ slug, title, category, stats }) => {
    const looks = looksOf(slug, title, category);
    if (looks === null) return [];
    const ignoring = Object.entries(stats).flatMap(([family, platforms]) =>
      Object.entries(platforms)
        .filter(([, versions]) => Object.values(versions).at(-1)?.startsWith("n") === true)
        .map(([platform]) => indexOf(family, platform)),
    );
    return ignoring.length === 0 ? [] : [{ slug, title, looks, ignoring }];
  });
  const lines = features.map((feature) => JSON.stringify(feature)).join(",\n");
  return `{"programs":${JSON.stringify(programs)},\n"features":[\n${lines}\n]}\n`;
}

function looksOf(slug: string, title: string, category: string): readonly string[] | null {
  const given = special[slug];
  if (given !== undefined) return given;
  if (category === "html") {
    const name = slug.slice("html-".length);
    if (/^<[a-z]+> element$/.test(title)) return [`element ${name}`];
    return title.endsWith("attribute") ? [`attribute ${name}`] : null;
  }
  if (category !== "css") return null;
  for (const kind of ["pseudo", "at", "function"] as const) {
    const name = searches[kind].exec(slug)?.[1];
    if (name !== undefined) return [`${kind} ${name}`];
  }
  const property = noProperty.test(slug) ? undefined : searches.property.exec(slug)?.[1];
  return property === undefined ? null : [`property ${property}`];
}
