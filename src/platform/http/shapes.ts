/** Shapes that many answers share. */
import { type TSchema, Type } from "typebox";

export const Id = Type.String({ format: "uuid" });

/** A Date in code, ISO 8601 UTC in JSON. */
export const Timestamp = Type.Unsafe<Date>(Type.String({ format: "date-time" }));

export const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

/** A field of a request that may be left out or null, which mean the same. */
export const omittable = <Shape extends TSchema>(shape: Shape) => Type.Optional(nullable(shape));

export const NullableTimestamp = nullable(Timestamp);

/** What a DELETE answers. */
export const Deleted = Type.Object({ id: Id, deleted: Type.Literal(true) }, { $id: "Deleted" });
