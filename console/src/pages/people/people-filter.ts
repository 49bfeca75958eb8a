/** The filter of people: words for the parameters of the API, with the names of lists, and `field:plan=pro` for a custom field. */

import memberFilter from "schema:MemberFilter";
import bulkFilter from "schema:SubscriberFilter";
import parameters from "operation:listSubscribers";
import type { Body, Query, Schema } from "@posthaste/client";
import type { MailingList } from "../../api/lists.ts";
import {
  type FilterField,
  type FilterValues,
  type Parameter,
  pageSizes,
  valuesWithin,
  writeWord,
} from "../../filter/filter.ts";

export const peoplePageSizes = pageSizes(parameters);

const paging = new Set(["page", "limit", "after"]);

/** @param lists undefined where the list is given, or while the lists load */
export function peopleFields(lists: readonly MailingList[] | undefined): readonly FilterField[] {
  return parameters.flatMap((parameter) => {
    const { name } = parameter;
    if (paging.has(name) || name === "field_value") return [];
    if (name !== "list_id") return [{ word: name, parameter: described(parameter) }];
    if (lists === undefined) return [];
    const { description } = parameter;
    return [
      {
        word: "list",
        parameter: { name: "list", description, enum: lists.map((one) => labelOf(one, lists)) },
      },
    ];
  });
}

function described(parameter: Parameter): Parameter {
  if (parameter.type === "boolean") return { ...parameter, enum: ["true"] };
  if (parameter.name !== "field") return parameter;
  return { ...parameter, description: "Only those whose custom field has a value, such as field:plan=pro." };
}

/** The name of a list; with the beginning of its id where another has the same name. */
function labelOf({ id, name }: MailingList, lists: readonly MailingList[]): string {
  return lists.some((other) => other.name === name && other.id !== id) ? `${name} (${id.slice(0, 8)})` : name;
}

/** The conditions as the API takes them. */
export function peopleQuery(
  { list, field, ...rest }: FilterValues,
  lists: readonly MailingList[] | undefined,
  listId?: string,
): Query<"listSubscribers"> {
  const [name = "", ...value] = (field ?? "").split("=");
  const named = list === undefined ? undefined : lists?.find((one) => labelOf(one, lists) === list)?.id;
  const list_id = listId ?? named ?? list;
  return {
    ...rest,
    ...(list_id !== undefined && { list_id }),
    ...(field !== undefined && { field: name }),
    ...(value.length > 0 && { field_value: value.join("=") }),
  } as Query<"listSubscribers">;
}

/** The same conditions as the filter of an act on many people. */
export function bulkFilterOf(query: Query<"listSubscribers">): Schema<"SubscriberFilter"> {
  return valuesWithin(query ?? {}, bulkFilter.properties) as Schema<"SubscriberFilter">;
}

/** The same conditions as those of an export of one list. */
export function exportFilterOf(query: Query<"listSubscribers">): NonNullable<Body<"exportSubscribers">> {
  const { status = null, search = null } = query ?? {};
  return { status, search, filter: valuesWithin(query ?? {}, memberFilter.properties) };
}

/** The conditions as people write them, without the list. */
export function filterText(values: FilterValues): string {
  return peopleFields(undefined)
    .flatMap((field) => {
      const value = values[field.parameter.name];
      return value === undefined ? [] : [writeWord(field, value)];
    })
    .join(" ");
}
