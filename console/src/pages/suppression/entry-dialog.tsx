/** An entry of a suppression list: why it is there, and the way to remove it. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { mayCall, usePlace } from "../../api/session.tsx";
import { findingsQuery, type SuppressionList } from "../../api/suppression.ts";
import { Button } from "../../parts/button.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Time } from "../../parts/time.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { RemoveEntry } from "./remove-entry.tsx";

type Entry = Schema<"SuppressionEntry">;

interface Props {
  readonly list: SuppressionList;
  readonly entry: Entry;
  readonly onClose: () => void;
}

export function EntryDialog({ list, entry, onClose }: Props) {
  const place = usePlace();
  const isAddress = entry.entry_type === "email";
  // The warning before the removal comes with the reasons of the address; a domain has none of its own.
  const { data, error, refetch } = useQuery(findingsQuery(place, isAddress ? [entry.entry_value] : []));
  const block = data?.[0]?.blocks.find(({ entry_id }) => entry_id === entry.id);
  const isReady = !isAddress || data !== undefined || !mayCall(place.workspace, "findSuppressions");
  return (
    <Dialog title={entry.entry_value} isOpen onClose={onClose}>
      <Facts>
        <Fact name={isAddress ? "Address" : "Domain"}>
          <Copyable text={entry.entry_value} label={entry.entry_type} isMono={false} />
        </Fact>
        <Fact name="Reason">
          <span className="capitalize">{entry.reason.replaceAll("_", " ")}</span>
        </Fact>
        <Fact name="Since">
          <Time at={entry.created_at} isPrecise />
        </Fact>
        <Fact name="Added by">{entry.created_by}</Fact>
        {entry.source_message_id && (
          <Fact name="Message">
            <PlaceLink to={`messages/${entry.source_message_id}`} className="text-accent hover:underline">
              {block?.cause?.subject || "Message without a subject"}
            </PlaceLink>
          </Fact>
        )}
      </Facts>
      {block?.cause?.detail && (
        <p className="mt-3 rounded bg-sunken px-2.5 py-1.5 font-mono text-small break-words">
          {block.cause.detail}
        </p>
      )}
      {error && (
        <div className="mt-3">
          <Failure error={error} onRetry={() => void refetch()} />
        </div>
      )}
      <div className="mt-6 flex min-h-8 justify-end gap-2">
        <Button onPress={onClose}>Close</Button>
        {isReady && (
          <RemoveEntry
            entry={{
              listId: list.id,
              listName: list.name,
              entryId: entry.id,
              value: entry.entry_value,
              reason: entry.reason,
              warning: block?.removal_warning ?? null,
            }}
            onRemoved={onClose}
          />
        )}
      </div>
    </Dialog>
  );
}
