/** Import into a list: the wizard until the import has begun, then its job, whose id is in the address. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { ImportJob } from "./import-job.tsx";
import { ImportWizard } from "./import-wizard.tsx";

export function ImportPage() {
  const { list: listId = "" } = useParams({ strict: false }) as { readonly list?: string };
  const { job } = useSearch({ strict: false }) as { readonly job?: string };
  const { api, workspace } = usePlace();
  const {
    data: list,
    error,
    refetch,
  } = useQuery({
    queryKey: ["list", workspace.id, listId, "size"],
    queryFn: ({ signal }) => api.getMailingList({ id: listId, signal }),
  });
  const name = list?.name ?? "the list";
  return (
    <Page title={`Import into ${name}`}>
      <p className="-mt-3 mb-5">
        <Link to={`/${workspace.id}/lists/${listId}`} className="text-accent hover:underline">
          {list?.name ?? "The list"}
        </Link>
      </p>
      {error && !list ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : job ? (
        <ImportJob id={job} listId={listId} listName={name} />
      ) : (
        <ImportWizard listId={listId} listName={name} />
      )}
    </Page>
  );
}
