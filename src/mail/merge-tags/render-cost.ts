/**
 * The cost of filters, comparisons and outputs in units of the render budget. The costs were measured with the worst
 * values of each, so that every template gets about the same amount of work out of its budget.
 * LiquidJS's own limits do not suffice: its memoryLimit charges a search only by the length of the text, and its
 * renderLimit is checked only between tags, so that a single filter can run for seconds (render-cost.test.ts shows one).
 */
import {
  CaseTag,
  type Context,
  defaultOperators,
  type Emitter,
  evalToken,
  type FilterImplOptions,
  ForTag,
  type Operators,
  TypeGuards,
  toValue,
} from "liquidjs";
import { textOf } from "./escape.ts";

type Filter = Exclude<FilterImplOptions, { raw: boolean }>;
interface Filtering {
  readonly context: Context;
}

/** Finding and calling a filter or an operator. */
const call = 20;
/** An argument that is written out, or a property of a value. */
const read = 15;
/** Reading an element of an array; and comparing it, for which LiquidJS creates generators. */
const element = 4;
const comparedElement = 40;
/** Converting a value that is neither text nor an array. */
const scalar = 8;
/** Characters that are compared or searched for one unit. */
const comparedCharacters = 4;
/** Searching a word from the end takes time in the product of both lengths. */
const productOfLengths = 128;

/** Units a character of filters and writers that need more than one. */
const unitsOfCharacter: ReadonlyMap<string, number> = new Map(
  Object.entries({
    as_address_more: 7,
    as_address_part: 7,
    as_address_start: 2,
    as_html: 2,
    as_mailbox: 7,
    as_text_url: 7,
    as_unquoted: 4,
    as_url: 7,
    as_url_part: 7,
    cgi_escape: 2,
    escape_once: 2,
    html: 2,
    remove: 2,
    replace: 3,
    slugify: 2,
    strip: 2,
    strip_html: 3,
  }),
);

/** Units of formatting a date; in a named time zone; and of each part that needs words of a language. */
const dateCost = 300;
const zoneCost = 3_000;
const wordsCost = 1_500;
const wordyParts = /%[^a-zA-Z%]*[AaBbchXxZ]/g;

/** The size of a value: characters of text, elements of arrays. */
export function sizeInUnits(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (!Array.isArray(value)) return scalar;
  return value.reduce<number>((size, item) => size + element + sizeInUnits(item), element);
}

/** The cost of reading a property by a name, which may itself be a value. */
export function readingCost(name: unknown): number {
  return read + comparingCost(name);
}

/**
 * Wraps a filter so that it is charged before it runs. Filters that are generators stay generators, because LiquidJS
 * runs them.
 */
export function meteredFilter(name: string, filter: FilterImplOptions): FilterImplOptions {
  if (typeof filter === "object") return { ...filter, handler: chargedFirst(name, filter.handler) };
  return chargedFirst(name, filter);
}

/** The operators, each charged before it runs. The last argument of an operator is the context. */
export const meteredOperators: Operators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, operator]) => [
    name,
    (...given: unknown[]) => {
      const context = given.at(-1) as Context;
      context.memoryLimit.use(operatorCost(name, given));
      return Reflect.apply(operator, undefined, given);
    },
  ]),
);

/** Wraps the function that writes outputs without a filter for their position. */
export function meteredWriter(kind: "html" | "text" | "line", write: (value: unknown) => string) {
  return function (this: Filtering, value: unknown): string {
    this.context.memoryLimit.use(filterCost(kind, [value]));
    return write(value);
  };
}

function chargedFirst(name: string, filter: Filter): Filter {
  const pay = ({ context }: Filtering, values: readonly unknown[]) =>
    context.memoryLimit.use(filterCost(name, values));
  if (filter.constructor === Function) {
    return function (value, ...args) {
      pay(this, [value, ...args]);
      return filter.call(this, value, ...args);
    };
  }
  return function* (value, ...args) {
    pay(this, [value, ...args]);
    return yield* filter.call(this, value, ...args);
  };
}

function filterCost(name: string, values: readonly unknown[]): number {
  const [value, argument] = values;
  const size = values.reduce<number>((sum, one) => sum + read + sizeInUnits(one), call);
  switch (name) {
    case "sort":
    case "sort_natural": {
      const length = Array.isArray(value) ? value.length : 1;
      return size * Math.log2(length + 2) + length * (argument === undefined ? 0 : sizeInUnits(argument));
    }
    case "remove_last":
    case "replace_last":
      return size + (sizeInUnits(value) * sizeInUnits(argument)) / productOfLengths;
    case "date":
      return size + costOfDate(values);
    default:
      return size * (unitsOfCharacter.get(name) ?? 1);
  }
}

function costOfDate([value, format, zone]: readonly unknown[]): number {
  const hasZone = typeof zone === "string" || !isDay(value);
  const words = textOf(format).match(wordyParts)?.length ?? 0;
  return dateCost + (hasZone ? zoneCost : 0) + words * wordsCost;
}

/** Whether a value is a date without a time. */
export function isDay(value: unknown): boolean {
  return typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value);
}

function operatorCost(name: string, [left, right]: readonly unknown[]): number {
  // These operators only test whether a value is true.
  if (name === "and" || name === "or" || name === "not") return call;
  return call + comparingCost(left) + comparingCost(right);
}

function comparingCost(value: unknown): number {
  if (typeof value === "string") return value.length / comparedCharacters;
  if (!Array.isArray(value)) return 0;
  return value.reduce<number>((cost, item) => cost + comparedElement + comparingCost(item), 0);
}

/** Elements of an array that are copied for one unit. */
const copiedElements = 4;

/** The tag `case`, which compares as the operator `==` does; LiquidJS does not charge its comparisons. */
export class MeteredCase extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { lenientIf, operators } = context.opts;
    const value = toValue(yield this.value.value(context, lenientIf));
    const { renderer } = this.liquid;
    let isElse = true;
    for (const { values, templates } of this.branches) {
      for (const token of values) {
        const other = yield evalToken(token, context, lenientIf);
        if (!(yield operators["=="]?.(value, other, context))) continue;
        yield renderer.renderTemplates(templates, context, emitter);
        isElse = false;
        break;
      }
    }
    if (isElse) yield renderer.renderTemplates(this.elseTemplates, context, emitter);
  }
}

/** The tag `for`; options such as `reversed` copy the array, which LiquidJS does not charge. */
export class MeteredFor extends ForTag {
  override *render(context: Context, emitter: Emitter): ReturnType<ForTag["render"]> {
    // A range has already been charged, and evaluating it here would create it twice.
    if (!TypeGuards.isRangeToken(this.collection)) {
      const collection: unknown = yield evalToken(this.collection, context);
      if (Array.isArray(collection)) context.memoryLimit.use(collection.length / copiedElements);
    }
    return yield* super.render(context, emitter);
  }
}
