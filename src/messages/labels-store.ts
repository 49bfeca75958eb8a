/**
 * The index of messages by tag and metadata. Each tag and each pair of metadata is a label: a row with its hash. Readers
 * compare the texts themselves, which are in the log, so that two texts with the same hash are not confused.
 */
import sql, { type Sql } from "sql-template-tag";
import type { WorkspaceId } from "#platform/ids.ts";

/** A tag, or a name and value of metadata. */
export type Label = { readonly tag: string } | { readonly name: string; readonly value: string };

/**
 * The first letter tells tags from metadata. The name of a pair has no `=` (sending/emails/to-many/read-mail.ts), so that
 * different pairs are different texts.
 */
const tagText = (tag: Sql) => sql`'t' || ${tag}`;
const pairText = (name: Sql, value: Sql) => sql`'m' || ${name} || '=' || ${value}`;
const hashOf = (text: Sql) => sql`hashtextextended(${text}, 0)`;

/** The labels of a log row `m` as a relation with a column `label`, to be joined laterally. */
const labelsOf = sql`lateral (
  select ${hashOf(tagText(sql`tag`))} as label from jsonb_array_elements_text(m.email_details -> 'tags') as tag
  union
  select ${hashOf(pairText(sql`key`, sql`value`))} from jsonb_each_text(m.email_details -> 'metadata'))`;

/**
 * The part of the accepting statement that writes labels.
 * @param log the inserted rows of the log
 */
export function insertLabelsSql(log: Sql): Sql {
  return sql`
    insert into message_labels (workspace_id, label, message_id)
    select m.workspace_id, l.label, m.id from ${log} m cross join ${labelsOf} l`;
}

/** Removes the labels of these messages, whose log rows still have the texts. */
export function deleteLabelsSql(workspaceId: WorkspaceId, ids: readonly string[]): Sql {
  return sql`
    delete from message_labels d using messages m cross join ${labelsOf} l
    where m.workspace_id = ${workspaceId} and m.id = any (${[...ids]}::uuid[])
      and d.workspace_id = m.workspace_id and d.label = l.label and d.message_id = m.id`;
}

/** The condition that a message `m` has the label. */
export function hasLabelSql(label: Label): Sql {
  return "tag" in label
    ? sql`m.email_details -> 'tags' ? ${label.tag}::text`
    : sql`m.email_details -> 'metadata' ->> ${label.name}::text = ${label.value}`;
}

/** The ids of the messages with the label, as a relation `labelled` with message_id in the order of an index. */
export function labelledSql(workspaceId: WorkspaceId, label: Label): Sql {
  const text =
    "tag" in label
      ? tagText(sql`${label.tag}::text`)
      : pairText(sql`${label.name}::text`, sql`${label.value}::text`);
  return sql`message_labels labelled where labelled.workspace_id = ${workspaceId} and labelled.label = ${hashOf(text)}`;
}
