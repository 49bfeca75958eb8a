/**
 * LiquidJS as merge tags use it: the tags and filters that are offered, each paid for out of the budget of a rendering
 * before it works. No file is read, and nothing but a value's own properties is seen.
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
import { addressFilters } from "./url-filters.ts";

/** What is written: it decides how values are, where nothing else is said. */
export type TemplateKind = "html" | "text" | "line";

/** What a template is rendered with. */
export interface MergeValues {
  readonly variables: Readonly<Record<string, unknown>>;
  /** Where names are looked up that are no variables. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly links: LinkAddresses;
  /** What `now` and `today` mean to the filter `date`; the present when omitted. */
  readonly now?: Date | undefined;
}

/** Addresses that lead back to us; they are escaped where they are written. */
export interface LinkAddresses {
  /** Of the open pixel; null for none. */
  readonly pixel: string | null;
  /**
   * What stands in place of the link of an index. `target` is where it leads, without HTML's escapes; it is personal where
   * its address has merge tags.
   */
  tracked(index: number, target: string, isPersonal: boolean): string;
}

/** Filters that the machinery adds; nobody can write them, for templates are read by an engine without them. */
export const placeFilters = {
  as_is: textOf,
  as_html: escapeHtml,
  as_unquoted: escapeUnquoted,
  as_url: escapeUrl,
  as_text_url: cleanUrl,
  as_url_part: escapeUrlPart,
  as_mailbox: escapeMailbox,
} as const;
export type PlaceFilter = keyof typeof placeFilters;

/** Characters that one part of one message may grow to: half more than a template may have. */
const mostCharacters = 3_000_000;

/** The register with the moment that `now` means. */
const NOW = "now";

/** Everything that decides, repeats or names; only outputs write values, so that all of them are escaped. */
const offeredTags = "# assign break capture case comment continue for if raw unless";
/** All that give the same text for the same value, and read no text as an expression. */
const offeredFilters =
  "abs append array_to_sentence_string at_least at_most base64_decode base64_encode capitalize ceil cgi_escape " +
  "compact concat date default divided_by downcase escape escape_once first floor hmac_sha256 join last lstrip minus " +
  "modulo newline_to_br normalize_whitespace number_of_words plus prepend remove remove_first remove_last replace " +
  "replace_first replace_last reverse round rstrip sha256 size slice slugify sort sort_natural split squish strip " +
  "strip_html strip_newlines times to_integer truncate truncatewords uniq upcase uri_escape url_decode url_encode " +
  "xml_escape";

/** Offered, and without effect: every output is escaped for its place, and would be once more by these. */
export const idleFilters: ReadonlySet<string> = new Set(["escape", "xml_escape"]);

const writers = { html: escapeHtml, text: cleanText, line: cleanLine } as const;

/** Reads templates as they were written; every fault is kept, not only the first. */
export const readingEngine = offeredEngine({ catchAllErrors: true, strictFilters: true });

/** Renders what the machinery made of a template. @param timezone IANA name, for the filter `date` */
export function renderingEngine(kind: TemplateKind, timezone: string): Liquid {
  const engine = offeredEngine({
    timezoneOffset: timezone,
    outputEscape: meteredWriter(kind, writers[kind]),
    operators: meteredOperators,
  });
  for (const [name, write] of Object.entries(placeFilters)) {
    engine.registerFilter(name, { raw: true, handler: write });
  }
  for (const [name, filter] of Object.entries(addressFilters)) engine.registerFilter(name, filter);
  for (const [name, filter] of Object.entries(engine.filters)) {
    engine.registerFilter(name, meteredFilter(name, filter));
  }
  engine.registerTag("case", MeteredCase);
  engine.registerTag("for", MeteredFor);
  engine.registerTag("tracked_link", TrackedLink);
  engine.registerTag("open_pixel", OpenPixel);
  return engine;
}

/** @throws what LiquidJS throws: the template, with these values, does what it cannot do or costs too much */
export function renderWithLiquid(engine: Liquid, templates: Template[], values: MergeValues): string {
  const budget = new RenderBudget();
  const context = new MeteredContext(engine, budget, values);
  context.setRegister("links", values.links);
  context.setRegister(NOW, values.now);
  const emitter = new BoundedEmitter();
  toValueSync(engine.renderer.renderTemplates(templates, context, emitter));
  return emitter.buffer;
}

/** A context for filters that run without a template: `begin` in front of each rendering. */
export function filterContext(engine: Liquid): { context: Context; begin: (values: MergeValues) => void } {
  const budget = new RenderBudget();
  const context = new MeteredContext(engine, budget, null);
  const begin = ({ now }: MergeValues) => {
    budget.begin();
    context.setRegister(NOW, now);
  };
  return { context, begin };
}

/** In which whatever is done is paid for out of a budget. */
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

/** Where an address written in HTML leads: without its escapes, and the white space that browsers pass over. */
export function hrefTarget(written: string): string {
  return decodeEntities(written)
    .replaceAll(/[\t\n\r]/g, "")
    .trim();
}

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

function offeredEngine(options: ConstructorParameters<typeof Liquid>[0]): Liquid {
  // Templates of no name instead of files; a locale, or the machine's would be taken.
  const engine = new Liquid({ templates: {}, locale: "en-US", ownPropertyOnly: true, ...options });
  const filters = new Set(offeredFilters.split(" "));
  const names = new Set(offeredTags.split(" "));
  for (const name of Object.keys(engine.filters)) if (!filters.has(name)) delete engine.filters[name];
  for (const name of Object.keys(tags)) if (!names.has(name)) delete engine.tags[name];
  engine.registerFilter("date", calendarDate(engine.filters.date));
  for (const name of idleFilters) engine.registerFilter(name, textOf);
  // What was escaped already is escaped where it is written.
  engine.registerFilter("escape_once", unescapeHtml);
  return engine;
}

/** A date without a time is the same day in every time zone. */
function calendarDate(date: FilterImplOptions | undefined): FilterImplOptions {
  if (typeof date !== "function") throw new Error("LiquidJS has no filter date");
  return function (value: unknown, format?: unknown, zone?: unknown) {
    const now = value === "now" || value === "today" ? this.context.getRegister(NOW) : undefined;
    // A register that was never set is an empty object.
    const time = now instanceof Date ? now : value;
    return date.call(this, time, format, zone ?? (isDay(time) ? 0 : undefined));
  };
}
