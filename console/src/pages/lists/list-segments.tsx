/** The segments of a list, each a link to its builder. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted, countText } from "../../parts/numbers.ts";

const MOST = 200;

export function ListSegments({ listId }: { readonly listId: string }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery({
    queryKey: ["segments", workspace.id, "of list", listId],
    queryFn: ({ signal }) => api.listSegmentsOfList({ id: listId, query: { limit: MOST }, signal }),
  });
  const base = `/${workspace.id}/lists/${listId}/segments`;
  const make = mayCall(workspace, "createSegment") && (
    <Button onPress={() => void navigate({ to: `${base}/new` })}>New segment</Button>
  );
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data?.segments.length === 0) {
    return (
      <Empty title="No segment yet" action={make}>
        A segment is the part of the list that meets rules, such as people who opened something in the last 30
        days.
      </Empty>
    );
  }
  return (
    <>
      <div className="flex justify-end">{make}</div>
      <ul className="mt-2 min-h-40">
        {data?.segments.map(({ id, name, subscriber_count }) => (
          <li key={id} className="border-b border-line/60">
            <Link
              to={`${base}/${id}`}
              className="flex min-h-9 items-center gap-4 px-3 py-1.5 hover:bg-sunken/70"
            >
              <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
              <span className="text-muted">
                {subscriber_count === null ? "Not counted" : counted(subscriber_count, "person", "people")}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {data && data.pagination.total > MOST && (
        <p className="mt-2 text-muted">
          The newest {MOST} of {countText(data.pagination.total)}; the others are among all segments.
        </p>
      )}
    </>
  );
}
