/** The people of the workspace. */
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { SkeletonLines } from "../../parts/skeleton-lines.tsx";
import { TeammateRow } from "./teammate-row.tsx";

export function useTeammates() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["team", workspace.id],
    queryFn: ({ signal }) => api.listTeammates({ signal }),
  });
}

export function Teammates() {
  const { data, error, refetch } = useTeammates();
  if (error) return <Failure error={error} onRetry={refetch} />;
  if (!data) return <SkeletonLines count={3} />;
  return (
    <ul aria-label="People">
      {data.map((one) => (
        <TeammateRow key={one.id} teammate={one} />
      ))}
    </ul>
  );
}
