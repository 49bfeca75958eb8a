/** Names that a mail may show: those of every person and mail, and the custom fields of the list. */
import { useFields } from "../../../api/fields.ts";
import type { MergeTag } from "../../../parts/code-editor.tsx";

/** docs/merge-tags.md, “Values”. */
const everywhere: readonly MergeTag[] = [
  { name: "first_name", description: "First name" },
  { name: "last_name", description: "Last name" },
  { name: "email", description: "Address" },
  { name: "unsubscribe_url", description: "Link to unsubscribe" },
  { name: "view_in_browser_url", description: "Link to the mail in a browser" },
  { name: "list_name", description: "Name of the list" },
  { name: "campaign_name", description: "Name of the campaign" },
];

export function useMergeTags(listId: string | null): readonly MergeTag[] {
  const fields = useFields(listId ?? undefined);
  return [
    ...everywhere,
    ...fields.map(({ field_name, field_label }) => ({ name: field_name, description: field_label })),
  ];
}
