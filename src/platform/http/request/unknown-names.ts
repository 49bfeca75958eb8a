/**
 * Names in a request that its shape does not have. One that is near to a known name is a fault: its value would be lost
 * without a word. Any other is ignored, and named in the warnings of the answer. Where a shape is closed
 * (`additionalProperties: false`), every unknown name is a fault.
 */
import type { TSchema } from "typebox";
import { type FieldFault, invalid } from "#platform/errors.ts";
import { KnownNames } from "./near-names.ts";

/** Of one request: what is refused, and what is ignored. */
export interface UnknownNames {
  readonly faults: readonly FieldFault[];
  readonly ignored: readonly FieldFault[];
}

/** What an endpoint knows besides its body. */
export interface Surroundings {
  /** Its answer: those names are no slips, for callers send back what they have read. */
  readonly answer?: TSchema | undefined;
  /** Its query parameters, which a body may hold by mistake. */
  readonly query?: readonly string[] | undefined;
  /** Completes "<field> is not supported here: ", for names at the top that need more than "did you mean". */
  readonly advise?: ((name: string) => string | undefined) | undefined;
}

/** As many as a caller reads; the rest is left out. */
const MOST_FAULTS = 8;
export const MOST_IGNORED = 20;
/** Of unknown names; further ones are not looked at. */
const MOST_LOOKED_AT = 200;
const LONGEST_SHOWN = 100;

interface Shape {
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
}

/** The objects of a shape, with what may stand in each field. */
interface Names {
  readonly fields: ReadonlyMap<string, Names | undefined>;
  readonly known: KnownNames;
  readonly isClosed: boolean;
  /** Names that the answer has at the same place. */
  readonly answered: ReadonlySet<string>;
  /** The same for the items, where the value is an array. */
  readonly items: Names | undefined;
}

/** Looks for unknown names in values of a shape, which need not fit it; undefined for a shape without named fields. */
export function unknownNamesIn(
  shape: TSchema,
  { answer, query = [], advise }: Surroundings = {},
): ((value: unknown) => UnknownNames) | undefined {
  const names = namesOf([shape], answer === undefined ? [] : [answer]);
  if (names === undefined) return undefined;
  const judgeTop = (name: string) => {
    const advice = advise?.(name);
    if (advice !== undefined) return `is not supported here: ${advice}`;
    return query.includes(name) ? "is a query parameter: send it in the URL" : undefined;
  };
  return (value) => {
    const search = new Search(judgeTop);
    search.look(value, names, "");
    return search;
  };
}

class Search implements UnknownNames {
  readonly faults: FieldFault[] = [];
  readonly #unknown: FieldFault[] = [];
  readonly #readOnly: FieldFault[] = [];
  readonly #judgeTop: (name: string) => string | undefined;
  #left = MOST_LOOKED_AT;

  constructor(judgeTop: (name: string) => string | undefined) {
    this.#judgeTop = judgeTop;
  }

  /** What is sent back as it was answered comes last: it is seldom a mistake. */
  get ignored(): readonly FieldFault[] {
    return [...this.#unknown, ...this.#readOnly].slice(0, MOST_IGNORED);
  }

  look(value: unknown, names: Names, path: string): void {
    if (Array.isArray(value)) {
      if (names.items === undefined) return;
      for (const [at, item] of value.entries()) this.look(item, names.items, `${path}[${at}]`);
    } else if (typeof value === "object" && value !== null && names.fields.size > 0) {
      for (const [name, inner] of Object.entries(value)) {
        const known = names.fields.get(name);
        if (known !== undefined) this.look(inner, known, inside(path, name));
        else if (!names.fields.has(name)) this.#note(name, names, path, value);
      }
    }
  }

  #note(name: string, names: Names, path: string, holder: object): void {
    if (this.#left === 0) return;
    this.#left -= 1;
    const field = inside(path, shown(name));
    const fault = this.#faultOf(name, names, path, holder);
    if (fault !== undefined) {
      if (this.faults.length < MOST_FAULTS) this.faults.push({ field, message: `${field} ${fault}` });
    } else if (names.answered.has(name)) {
      this.#readOnly.push({ field, message: `${field} cannot be set here and was ignored` });
    } else this.#unknown.push({ field, message: `${field} is not a known field and was ignored` });
  }

  /** @param holder has the name; another word for a field that is there too is no slip, and only ignored */
  #faultOf(
    name: string,
    { known, isClosed, answered }: Names,
    path: string,
    holder: object,
  ): string | undefined {
    const judgement = path === "" ? this.#judgeTop(name) : undefined;
    if (judgement !== undefined) return judgement;
    const meant =
      answered.has(name) && !isClosed
        ? undefined
        : known.meantBy(name, (other) => isClosed || !Object.hasOwn(holder, other));
    if (meant !== undefined) return `is not a known field: did you mean ${inside(path, meant)}?`;
    return isClosed ? "is not a known field" : undefined;
  }
}

/** What else a query is judged by. */
export interface QuerySurroundings {
  /** Fields of the body, which a query may hold by mistake. */
  readonly bodyFields?: readonly string[];
  /** Every unknown name is refused. */
  readonly isClosed?: boolean;
  /** A name is not known, and was ignored. */
  readonly onIgnored?: (ignored: FieldFault) => void;
}

/** The same for the parameters of a query. @throws ApiError VALIDATION_ERROR */
export function judgeQueryNames(
  known: readonly string[],
  given: readonly string[],
  { bodyFields = [], isClosed = false, onIgnored }: QuerySurroundings,
): void {
  const names = new KnownNames(known);
  const judge = (name: string): string | undefined => {
    if (bodyFields.includes(name)) return "is a field of the body: send it there";
    const meant = names.meantBy(name);
    if (meant !== undefined) return `is not a known query parameter: did you mean ${meant}?`;
    return isClosed ? "is not a known query parameter" : undefined;
  };
  const faults: FieldFault[] = [];
  const unknown = given.filter((name) => !known.includes(name)).slice(0, MOST_LOOKED_AT);
  for (const name of unknown) {
    const field = shown(name);
    const judgement = judge(name);
    if (judgement !== undefined) faults.push({ field, message: `${field} ${judgement}` });
    else onIgnored?.({ field, message: `${field} is not a known query parameter and was ignored` });
  }
  const [first, ...rest] = faults.slice(0, MOST_FAULTS);
  if (first !== undefined) throw invalid(first, ...rest);
}

function shown(name: string): string {
  return name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name;
}

function inside(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Of values that one of the shapes describes; undefined where no object of them has named fields. */
function namesOf(shapes: readonly Shape[], answers: readonly Shape[]): Names | undefined {
  const branches = shapes.flatMap(branchesOf);
  if (branches.length === 0) return undefined;
  const inAnswers = answers.flatMap(branchesOf);
  const items = namesOf(branches.flatMap(itemsOf), inAnswers.flatMap(itemsOf));
  const objects = branches.filter(hasNamedFields);
  if (objects.length === 0 && items === undefined) return undefined;
  const field = (some: readonly Shape[], name: string) =>
    some.flatMap(({ properties }) => properties?.[name] ?? []);
  const fieldNames = objects.flatMap(({ properties = {} }) => Object.keys(properties));
  return {
    fields: new Map(fieldNames.map((name) => [name, namesOf(field(objects, name), field(inAnswers, name))])),
    known: new KnownNames([...new Set(fieldNames)]),
    isClosed: objects.length > 0 && objects.every((shape) => shape.additionalProperties === false),
    answered: new Set(inAnswers.flatMap(({ properties = {} }) => Object.keys(properties))),
    items,
  };
}

function branchesOf(shape: Shape): readonly Shape[] {
  return shape.anyOf?.flatMap(branchesOf) ?? [shape];
}

function itemsOf({ items }: Shape): readonly Shape[] {
  return items === undefined ? [] : [items];
}

function hasNamedFields({ properties }: Shape): boolean {
  return properties !== undefined && Object.keys(properties).length > 0;
}
