/**
 * LiquidJS as merge tags use it: the offered tags and filters, each charged to the budget of a rendering before it
 * runs. It reads no files and only a value's own properties.
 */
import {
  Context,
  type Emitter,
  type FilterImplOptions,
  Liquid,
  type Parser,
  type Scope,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
  TypeGuards,
  tags,
  toValueSync,
} from "liquidjs";
import { decodeEntities } from "#mail/html/entities.ts";
import {
  cleanLine,
  cleanText,
  cleanUrl,
  escapeHtml,
  escapeMailbox,
  escapeUnquoted,
  escapeUrl,
  escapeUrlPart,
  textOf,
  unescapeHtml,
} from "./escape.ts";
import { RenderBudget } from "./render-budget.ts";
import {
  isDay,
  MeteredCase,
  MeteredFor,
  meteredFilter,
  meteredOperators,
  meteredWriter,
  readingCost,
  sizeInUnits,
} from "./render-cost.ts";
import { urlFilters } from "./url-filters.ts";

/** The target of a template, which decides the default escaping. */
export type TemplateKind = "html" | "text" | "line";

/** The values of one rendering. */
export interface MergeValues {
  readonly variables: Readonly<Record<string, unknown>>;
  /** Used for names that are not in `variables`. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly links: LinkAddresses;
  /** The time that `now` and `today` mean to the filter `date`; default: the current time. */
  readonly now?: Date | undefined;
}

/** Tracking URLs of a message; they are escaped when written. */
export interface LinkAddresses {
  /** URL of the tracking pixel; null for none. */
  readonly pixel: string | null;
  /**
   * The URL that replaces the link with this index. `target`: its destination without HTML escapes. `isPersonal`: the
   * destination contains merge tags.
   */
  tracked(index: number, target: string, isPersonal: boolean): string;
}

/**
 * Internal filters, added by the compiler. Users cannot call them: their templates are parsed by an engine that does
 * not know them.
 */
const placeFilters = {
  as_is: textOf,
  as_html: escapeHtml,
  as_unquoted: escapeUnquoted,
  as_url: escapeUrl,
  as_text_url: cleanUrl,
  as_url_part: escapeUrlPart,
  as_mailbox: escapeMailbox,
} as const;
export type PlaceFilter = keyof typeof placeFilters;

/** Limit of the rendered text in characters: one and a half times that of a template. */
const mostCharacters = 3_000_000;

/** The register with the time that `now` means. */
const NOW = "now";

/** Tags for conditions, loops and names. None writes values: only outputs do, so all values are escaped. */
const offeredTags = "# assign break capture case comment continue for if raw unless";
/** Filters that are deterministic and do not evaluate text as an expression. */
const offeredFilters =
  "abs append array_to_sentence_string at_least at_most base64_decode base64_encode capitalize ceil cgi_escape " +
  "compact concat date default divided_by downcase escape escape_once first floor hmac_sha256 join last lstrip minus " +
  "modulo newline_to_br normalize_whitespace number_of_words plus prepend remove remove_first remove_last replace " +
  "replace_first replace_last reverse round rstrip sha256 size slice slugify sort sort_natural split squish strip " +
  "strip_html strip_newlines times to_integer truncate truncatewords uniq upcase uri_escape url_decode url_encode " +
  "xml_escape";

/** Offered, but without effect: every output is escaped for its position anyway. */
export const noOpFilters: ReadonlySet<string> = new Set(["escape", "xml_escape"]);

const writers = { html: escapeHtml, text: cleanText, line: cleanLine } as const;

/** Parses templates of users; it reports every fault, not only the first. */
export const readingEngine = restrictedEngine({ catchAllErrors: true, strictFilters: true });

/** The engine that renders compiled templates. @param timezone IANA name, for the filter `date` */
export function renderingEngine(kind: TemplateKind, timezone: string): Liquid {
  const engine = restrictedEngine({
    timezoneOffset: timezone,
    outputEscape: meteredWriter(kind, writers[kind]),
    operators: meteredOperators,
  });
  for (const [name, write] of Object.entries(placeFilters)) {
    engine.registerFilter(name, { raw: true, handler: write });
  }
  for (const [name, filter] of Object.entries(urlFilters)) engine.registerFilter(name, filter);
  for (const [name, filter] of Object.entries(engine.filters)) {
    engine.registerFilter(name, meteredFilter(name, filter));
  }
  engine.registerTag("case", MeteredCase);
  engine.registerTag("for", MeteredFor);
  engine.registerTag("tracked_link", TrackedLink);
  engine.registerTag("open_pixel", OpenPixel);
  return engine;
}

/** @throws Error of LiquidJS if the template fails with these values, or exceeds the budget */
export function renderWithLiquid(engine: Liquid, templates: Template[], values: MergeValues): string {
  const budget = new RenderBudget();
  const context = new MeteredContext(engine, budget, values);
  context.setRegister("links", values.links);
  context.setRegister(NOW, values.now);
  const emitter = new BoundedEmitter();
  toValueSync(engine.renderer.renderTemplates(templates, context, emitter));
  return emitter.buffer;
}

/** A context for filters that run outside of a template; call `begin` before each rendering. */
export function filterContext(engine: Liquid): { context: Context; begin: (values: MergeValues) => void } {
  const budget = new RenderBudget();
  const context = new MeteredContext(engine, budget, null);
  const begin = ({ now }: MergeValues) => {
    budget.begin();
    context.setRegister(NOW, now);
  };
  return { context, begin };
}

/** A context that charges all work to a budget. */
class MeteredContext extends Context {
  constructor(engine: Liquid, budget: RenderBudget, values: Pick<MergeValues, "variables" | "more"> | null) {
    super(
      values?.variables,
      engine.options,
      { sync: true, ...(values && { globals: values.more }) },
      { liquid: engine },
    );
    this.memoryLimit.use = (units) => budget.use(units);
    this.renderLimit.check = () => budget.step();
  }

  override readProperty(from: Scope, name: Parameters<Context["readProperty"]>[1]): unknown {
    this.memoryLimit.use(readingCost(name));
    return super.readProperty(from, name);
  }
}

/** The destination of a URL in HTML: without HTML escapes, and without the white space that browsers ignore. */
export function hrefTarget(written: string): string {
  return decodeEntities(written)
    .replaceAll(/[\t\n\r]/g, "")
    .trim();
}

/** The tracking pixel as an image element; empty without a pixel. */
export function pixelImage({ pixel }: LinkAddresses): string {
  return pixel === null
    ? ""
    : `<img src="${escapeHtml(pixel)}" width="1" height="1" alt="" style="display:block;border:0">`;
}

class BoundedEmitter implements Emitter {
  buffer = "";
  write(value: unknown): void {
    this.buffer += textOf(value);
    if (this.buffer.length > mostCharacters) throw new Error("it makes too long a text");
  }
}

/** `{% tracked_link 3 %}https://…{% endtracked_link %}` around the value of an attribute. */
class TrackedLink extends Tag {
  readonly #index: number;
  readonly #address: Template[] = [];
  #isPersonal = false;

  constructor(token: TagToken, following: TopLevelToken[], engine: Liquid, parser: Parser) {
    super(token, following, engine);
    this.#index = Number(token.args);
    const stream = parser
      .parseStream(following)
      .on("tag:endtracked_link", () => stream.stop())
      .on<Template>("template", (template) => {
        this.#address.push(template);
        this.#isPersonal ||= !TypeGuards.isHTMLToken(template.token);
      });
    stream.start();
  }

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, string> {
    const written = yield this.liquid.renderer.renderTemplates(this.#address, context);
    context.memoryLimit.use(sizeInUnits(written));
    const links = context.getRegister<LinkAddresses>("links");
    const target = hrefTarget(written);
    emitter.write(escapeHtml(links.tracked(this.#index, target, this.#isPersonal)));
  }
}

class OpenPixel extends Tag {
  override render(context: Context, emitter: Emitter): void {
    emitter.write(pixelImage(context.getRegister<LinkAddresses>("links")));
  }
}

function restrictedEngine(options: ConstructorParameters<typeof Liquid>[0]): Liquid {
  // An empty set of templates, so that no files are read; a locale, so that the machine's is not used.
  const engine = new Liquid({ templates: {}, locale: "en-US", ownPropertyOnly: true, ...options });
  const filters = new Set(offeredFilters.split(" "));
  const names = new Set(offeredTags.split(" "));
  for (const name of Object.keys(engine.filters)) if (!filters.has(name)) delete engine.filters[name];
  for (const name of Object.keys(tags)) if (!names.has(name)) delete engine.tags[name];
  engine.registerFilter("date", calendarDate(engine.filters.date));
  for (const name of noOpFilters) engine.registerFilter(name, textOf);
  // Text that was escaped already is unescaped here, because writing escapes it again.
  engine.registerFilter("escape_once", unescapeHtml);
  return engine;
}

/** The filter `date`: a date without a time is the same day in every time zone. */
function calendarDate(date: FilterImplOptions | undefined): FilterImplOptions {
  if (typeof date !== "function") throw new Error("LiquidJS has no filter date");
  return function (value: unknown, format?: unknown, zone?: unknown) {
    const now = value === "now" || value === "today" ? this.context.getRegister(NOW) : undefined;
    // A register that was never set is an empty object.
    const time = now instanceof Date ? now : value;
    return date.call(this, time, format, zone ?? (isDay(time) ? 0 : undefined));
  };
}
