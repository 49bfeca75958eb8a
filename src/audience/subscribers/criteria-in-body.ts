/** The criteria of lists of people as fields of a JSON body; each may be left out. */
import { type Static, Type } from "typebox";
import { Timestamp } from "#platform/shapes.ts";
import { criteriaWords, type PersonCriteria } from "./person-filter.ts";

const moment = (description: string) => Type.Optional(Type.Unsafe<string>({ ...Timestamp, description }));

export const criteriaInBody = {
  joined_from: moment(criteriaWords.joined_from),
  joined_to: moment(criteriaWords.joined_to),
  opened_since: moment(criteriaWords.opened_since),
  never_opened: Type.Optional(Type.Boolean({ description: criteriaWords.never_opened })),
  clicked_since: moment(criteriaWords.clicked_since),
  never_clicked: Type.Optional(Type.Boolean({ description: criteriaWords.never_clicked })),
  field: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: criteriaWords.field })),
  field_value: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: criteriaWords.field_value }),
  ),
};

const Criteria = Type.Object(criteriaInBody);

/** The criteria of a body, with its times as dates. */
export function criteriaOf(given: Static<typeof Criteria>): PersonCriteria {
  const { joined_from, joined_to, opened_since, clicked_since } = given;
  const { never_opened, never_clicked, field, field_value } = given;
  const at = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
  return {
    never_opened,
    never_clicked,
    field,
    field_value,
    joined_from: at(joined_from),
    joined_to: at(joined_to),
    opened_since: at(opened_since),
    clicked_since: at(clicked_since),
  };
}
