/**
 * What the work of filters, comparisons and outputs costs, in the units of a rendering's budget: measured with the
 * values that are worst for each, so that no template gets much more work out of its budget than out of another.
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

/** To find and to call a filter or an operator. */
const call = 20;
/** An argument that is written out, or the property of a value. */
const read = 15;
/** To take an element of an array in hand; and to compare it, for which LiquidJS makes generators. */
const element = 4;
const comparedElement = 40;
/** What is neither text nor an array, as text. */
const scalar = 8;
/** Characters that are compared, or searched for others, for one unit. */
const comparedCharacters = 4;
/** To look for a word from behind takes time in the product of the two lengths. */
const productOfLengths = 128;

/** For a character, where a filter, or what writes HTML, takes more than a unit for it. */
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

/** To write a date; in a zone that has a name; and a part of it for which the words of a language are looked up. */
const dateCost = 300;
const zoneCost = 3_000;
const wordsCost = 1_500;
const wordyParts = /%[^a-zA-Z%]*[AaBbchXxZ]/g;

/** What has to be looked at of a value. */
export function sizeInUnits(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (!Array.isArray(value)) return scalar;
  return value.reduce<number>((size, item) => size + element + sizeInUnits(item), element);
}

/** What it costs to read a property by a name, which may be a value. */
export function readingCost(name: unknown): number {
  return read + comparingCost(name);
}

/** A filter that is paid for before it works. Those that yield still do: LiquidJS runs them, and nobody else can. */
export function meteredFilter(name: string, filter: FilterImplOptions): FilterImplOptions {
  if (typeof filter === "object") return { ...filter, handler: chargedFirst(name, filter.handler) };
  return chargedFirst(name, filter);
}

/** The operators, each paid for before it works. The last of their arguments is the context. */
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

/** The same for what writes the outputs that no filter writes. */
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
  // Of these, only the truth is asked.
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

/** Compares as `==` does. */
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

/** With `reversed` and its like it goes over a copy. */
export class MeteredFor extends ForTag {
  override *render(context: Context, emitter: Emitter): ReturnType<ForTag["render"]> {
    // A range has been paid for, and would be made twice.
    if (!TypeGuards.isRangeToken(this.collection)) {
      const collection: unknown = yield evalToken(this.collection, context);
      if (Array.isArray(collection)) context.memoryLimit.use(collection.length / copiedElements);
    }
    return yield* super.render(context, emitter);
  }
}
