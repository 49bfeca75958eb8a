/** The acts on chosen people, each in a dialog that counts first what it will do. */
import type { Operations, Schema } from "@posthaste/client";
import { useState } from "react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import type { StartedJob } from "../../parts/job-line.tsx";
import { counted, countText } from "../../parts/numbers.ts";
import type { Selection } from "../../parts/selection.ts";
import { BulkDialog } from "./bulk-dialog.tsx";

export type BulkBody = Schema<"SubscriberBulkAction">;
export type BulkAction = BulkBody["action"];

/** Whom an act is for. */
export type BulkTarget = Pick<BulkBody, "filter" | "ids" | "except_ids">;

interface ActLook {
  readonly name: string;
  /** Before the number of people. */
  readonly verb: string;
  /** Beside the right to change people. */
  readonly needs?: keyof Operations;
  readonly isDanger?: boolean;
  /** On the bar; the others are in its menu. */
  readonly isFirst?: boolean;
}

export const bulkActs: Readonly<Record<BulkAction, ActLook>> = {
  add_to_list: { name: "Add to a list", verb: "Add", needs: "listMailingLists", isFirst: true },
  remove_from_list: { name: "Remove from a list", verb: "Remove", needs: "listMailingLists", isDanger: true },
  set_status: { name: "Change the state", verb: "Change", isFirst: true },
  set_field: { name: "Set a field", verb: "Change", needs: "listGlobalCustomFields" },
  suppress: { name: "Suppress", verb: "Suppress", needs: "addSuppressionEntries" },
  delete: { name: "Delete", verb: "Delete", isDanger: true },
};

interface Props {
  readonly selection: Selection;
  readonly filter: NonNullable<BulkBody["filter"]>;
  readonly onStarted: (job: StartedJob) => void;
}

export function BulkActs({ selection: { isAll, ids }, filter, onStarted }: Props) {
  const { workspace } = usePlace();
  const [action, setAction] = useState<BulkAction>();
  const names = Object.keys(bulkActs) as readonly BulkAction[];
  const allowed = names.filter((one) => {
    const { needs } = bulkActs[one];
    return needs === undefined || mayCall(workspace, needs);
  });
  const target: BulkTarget = isAll
    ? { filter, ...(ids.size > 0 && { except_ids: [...ids] }) }
    : { ids: [...ids] };
  return (
    <>
      {allowed
        .filter((one) => bulkActs[one].isFirst)
        .map((one) => (
          <Button key={one} onPress={() => setAction(one)}>
            {bulkActs[one].name}
          </Button>
        ))}
      <ActMenu
        label="More acts on the chosen people"
        acts={allowed
          .filter((one) => !bulkActs[one].isFirst)
          .map((one) => ({
            name: bulkActs[one].name,
            run: () => setAction(one),
            isDanger: bulkActs[one].isDanger ?? false,
          }))}
      />
      {action && (
        <BulkDialog
          action={action}
          target={target}
          listId={filter.list_id}
          people={
            isAll
              ? `all who match${ids.size > 0 ? `, but ${countText(ids.size)}` : ""}`
              : counted(ids.size, "person", "people")
          }
          onStarted={onStarted}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  );
}
