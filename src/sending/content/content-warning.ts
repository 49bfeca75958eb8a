/** The shape of a remark about a place in the content of a mail. */
import { Type } from "typebox";
import { described } from "#platform/shapes.ts";

const Count = Type.Integer();

/** Line and column count from 1. */
export const ContentWarning = Type.Object(
  {
    field: Type.String({ description: "The field of the content that it concerns." }),
    line: described(Count, "Line in the field, from 1."),
    column: described(Count, "Column in the line, from 1."),
    message: Type.String({ description: "What is wrong, for people." }),
  },
  { $id: "ContentWarning" },
);
