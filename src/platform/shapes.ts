/** Shapes that many endpoints share. */
import { type TSchema, type TStringOptions, Type } from "typebox";

export const Id = Type.String({ format: "uuid" });

/** A Date in code; ISO 8601 in UTC in JSON. */
export const Timestamp = Type.Unsafe<Date>(Type.String({ format: "date-time" }));

export const nullable = <Shape extends TSchema>(shape: Shape) =>
  // The API reference shows the description of the union, not that of its parts.
  Type.Union([shape, Type.Null()], descriptionOf(shape));

/** A field of a request that may be absent or null, with the same meaning. */
export const omittable = <Shape extends TSchema>(shape: Shape) => Type.Optional(nullable(shape));

export const NullableTimestamp = nullable(Timestamp);

/** How often a person opened or clicked at the same time. */
export const Times = Type.Integer({
  description: "Number of times, if it happened more than once at the same moment.",
});

/** Descriptions of patterns, by pattern, for error messages without regular expressions. */
export const patternsInWords = new Map<string, string>();

/** A text that matches a pattern. @param wanted completes "<field> must be …" */
export function patterned(pattern: string, wanted: string, options: TStringOptions = {}) {
  patternsInWords.set(pattern, wanted);
  return Type.String({ ...options, pattern });
}

/** The response of a DELETE. */
export const Deleted = Type.Object({ id: Id, deleted: Type.Literal(true) }, { $id: "Deleted" });

function descriptionOf(shape: object): { readonly description?: string } {
  return "description" in shape && typeof shape.description === "string"
    ? { description: shape.description }
    : {};
}
