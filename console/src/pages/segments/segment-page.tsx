/** One segment of a list, or a new one: loads what the editor begins with. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useAllSegments } from "../../api/segments.ts";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { SegmentEditor } from "./segment-editor.tsx";

const NEW = "new";

export function SegmentPage() {
  const { list = "", segment = "" } = useParams({ strict: false }) as {
    readonly list?: string;
    readonly segment?: string;
  };
  const { copy } = useSearch({ strict: false }) as { readonly copy?: string };
  return segment === NEW ? (
    <NewSegment key={copy ?? list} listId={list} copyId={copy} />
  ) : (
    <SavedSegment key={segment} listId={list} segmentId={segment} />
  );
}

function SavedSegment({ listId, segmentId }: { readonly listId: string; readonly segmentId: string }) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["segment", workspace.id, segmentId],
    queryFn: ({ signal }) => api.getSegment({ id: listId, segment_id: segmentId, signal }),
  });
  if (error && !data) return <Waiting title="Segment" error={error} onRetry={refetch} />;
  if (!data) return <Waiting title="Segment" />;
  return <SegmentEditor listId={listId} listName={data.mailing_list_name} saved={data} begin={data} />;
}

/** @param copyId the segment whose rules it begins with */
function NewSegment({ listId, copyId }: { readonly listId: string; readonly copyId: string | undefined }) {
  const { api, workspace } = usePlace();
  const list = useQuery({
    queryKey: ["list", workspace.id, listId, "size"],
    queryFn: ({ signal }) => api.getMailingList({ id: listId, signal }),
  });
  const segments = useAllSegments();
  const copied = segments.data?.find(({ id }) => id === copyId);
  if (list.error) return <Waiting title="New segment" error={list.error} onRetry={list.refetch} />;
  if (!list.data || (copyId !== undefined && !segments.data && !segments.error))
    return <Waiting title="New segment" />;
  return (
    <SegmentEditor
      listId={listId}
      listName={list.data.name}
      {...(copied && { begin: duplicateOf(copied) })}
    />
  );
}

function duplicateOf({ name, description, conditions }: Schema<"Segment">) {
  return { name: `Copy of ${name}`, description, conditions };
}

function Waiting({
  title,
  error,
  onRetry,
}: {
  readonly title: string;
  readonly error?: unknown;
  readonly onRetry?: () => unknown;
}) {
  const { workspace } = usePlace();
  return (
    <Page title={title}>
      <p className="-mt-3 mb-4">
        <Link to={`/${workspace.id}/segments`} className="text-accent hover:underline">
          Segments
        </Link>
      </p>
      {error !== undefined && <Failure error={error} {...(onRetry && { onRetry: () => void onRetry() })} />}
    </Page>
  );
}
