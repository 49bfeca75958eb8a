/** Shapes that many endpoints share. */
import { type TSchema, type TStringOptions, Type } from "typebox";

/**
 * The keyword for the description of one use of a shape that is a component of the API reference. The component keeps its own.
 */
export const DESCRIPTION_OF_USE = "x-description-of-use";

/** The keyword for the schema that the API reference shows instead of the one that validates. */
export const DOCUMENTED_AS = "x-documented-as";

/** The shape with the description of one field that has it. */
export function described<Shape extends TSchema>(shape: Shape, description: string): Shape {
  const options = "$id" in shape ? { [DESCRIPTION_OF_USE]: description } : { description };
  return Type.With(shape, options) as unknown as Shape;
}

export const Id = Type.String({ format: "uuid", description: "Unique id, a UUID." });

/** A Date in code; ISO 8601 in UTC in JSON. */
export const Timestamp = Type.Unsafe<Date>(
  Type.String({ format: "date-time", description: "Time in UTC, ISO 8601." }),
);

/** The usual times of a row. */
export const CreatedAt = described(Timestamp, "Time of creation in UTC, ISO 8601.");
export const UpdatedAt = described(Timestamp, "Time of the last change in UTC, ISO 8601.");

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
export const Deleted = Type.Object(
  {
    id: described(Id, "Id of the resource that was deleted."),
    deleted: Type.Literal(true, { description: "Always true." }),
  },
  { $id: "Deleted", description: "What was deleted." },
);

function descriptionOf(shape: object): { readonly description?: string } {
  const { description, [DESCRIPTION_OF_USE]: ofUse = description } = shape as Record<string, unknown>;
  return typeof ofUse === "string" ? { description: ofUse } : {};
}
