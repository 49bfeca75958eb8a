/**
 * Finds names in a request that its shape does not have. A name that is similar to a known one is an error, because its value
 * would be lost silently. Other names are ignored and listed in the warnings of the response. In a closed shape
 * (`additionalProperties: false`) every unknown name is an error.
 */
import type { TSchema } from "typebox";
import { type FieldFault, invalid } from "#platform/errors.ts";
import { KnownNames } from "./name-suggestions.ts";

/** The unknown names of a request that are errors, and those that are ignored. */
export interface UnknownNames {
  readonly faults: readonly FieldFault[];
  readonly ignored: readonly FieldFault[];
}

/** Names that an endpoint knows besides its body. */
export interface Surroundings {
  /** The shape of its response. Its names are not typos: callers send objects back that they have read. */
  readonly answer?: TSchema | undefined;
  /** Its query parameters, which callers may send in the body by mistake. */
  readonly query?: readonly string[] | undefined;
  /** Advice for a top-level name, to follow "<field> is not supported here: ". */
  readonly advise?: ((name: string) => string | undefined) | undefined;
}

/** Errors that are reported; further ones are left out. */
const MOST_FAULTS = 8;
export const MOST_IGNORED = 20;
/** Unknown names that are examined; further ones are skipped. */
const MOST_LOOKED_AT = 200;
const LONGEST_SHOWN = 100;

interface Shape {
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
}

/** The known names of the objects of a shape. */
interface Names {
  readonly fields: ReadonlyMap<string, Names | undefined>;
  readonly known: KnownNames;
  readonly isClosed: boolean;
  /** Names that the response has at the same place. */
  readonly answered: ReadonlySet<string>;
  /** The names of the items if the value is an array. */
  readonly items: Names | undefined;
}

/** A function that finds unknown names in a value, which need not match the shape; undefined for a shape without fields. */
export function unknownNamesIn(
  shape: TSchema,
  { answer, query = [], advise }: Surroundings = {},
): ((value: unknown) => UnknownNames) | undefined {
  const names = namesOf([shape], answer === undefined ? [] : [answer]);
  if (names === undefined) return undefined;
  const adviseTop = (name: string) => {
    const advice = advise?.(name);
    if (advice !== undefined) return `is not supported here: ${advice}`;
    return query.includes(name) ? "is a query parameter: send it in the URL" : undefined;
  };
  return (value) => {
    const search = new Search(adviseTop);
    search.look(value, names, "");
    return search;
  };
}

class Search implements UnknownNames {
  readonly faults: FieldFault[] = [];
  readonly #unknown: FieldFault[] = [];
  readonly #readOnly: FieldFault[] = [];
  readonly #adviseTop: (name: string) => string | undefined;
  #left = MOST_LOOKED_AT;

  constructor(adviseTop: (name: string) => string | undefined) {
    this.#adviseTop = adviseTop;
  }

  /** Names of the response come last, because they are seldom a mistake. */
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

  /** @param holder the object with the name. A synonym of a field that it also has is ignored, and not an error */
  #faultOf(
    name: string,
    { known, isClosed, answered }: Names,
    path: string,
    holder: object,
  ): string | undefined {
    const advice = path === "" ? this.#adviseTop(name) : undefined;
    if (advice !== undefined) return advice;
    const meant =
      answered.has(name) && !isClosed
        ? undefined
        : known.meantBy(name, (other) => isClosed || !Object.hasOwn(holder, other));
    if (meant !== undefined) return `is not a known field: did you mean ${inside(path, meant)}?`;
    return isClosed ? "is not a known field" : undefined;
  }
}

/** Context for checking the names of query parameters. */
export interface QuerySurroundings {
  /** Fields of the body, which callers may send in the query by mistake. */
  readonly bodyFields?: readonly string[];
  /** Whether every unknown name is an error. */
  readonly isClosed?: boolean;
  /** Called for each unknown name that is ignored. */
  readonly onIgnored?: (ignored: FieldFault) => void;
}

const dryRun = /^dry[-_]?run$/i;

/** Checks the names of query parameters. @throws ApiError VALIDATION_ERROR */
export function checkQueryNames(
  known: readonly string[],
  given: readonly string[],
  { bodyFields = [], isClosed = false, onIgnored }: QuerySurroundings,
): void {
  const names = new KnownNames(known);
  const faultOf = (name: string): string | undefined => {
    // Ignored, it would do what the caller only wants to try.
    if (dryRun.test(name)) return "is not offered here: nothing was done. Leave it out to do it";
    if (bodyFields.includes(name)) return "is a field of the body: send it there";
    const meant = names.meantBy(name);
    if (meant !== undefined) return `is not a known query parameter: did you mean ${meant}?`;
    return isClosed ? "is not a known query parameter" : undefined;
  };
  const faults: FieldFault[] = [];
  const unknown = given.filter((name) => !known.includes(name)).slice(0, MOST_LOOKED_AT);
  for (const name of unknown) {
    const field = shown(name);
    const fault = faultOf(name);
    if (fault !== undefined) faults.push({ field, message: `${field} ${fault}` });
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

/** The known names in values that match one of the shapes; undefined if no object in them has fields. */
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
