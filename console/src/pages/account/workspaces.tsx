/** The workspaces that one is a member of, with the role in each. */
import { useState } from "react";
import { usePlace, type Workspace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Leave } from "../team/leave.tsx";

export function Workspaces() {
  const { workspaces } = usePlace().session;
  const [leaving, setLeaving] = useState<Workspace>();
  return (
    <>
      <ul>
        {workspaces.map((one) => (
          <li key={one.id} className="flex min-h-12 items-center gap-3 border-b border-line/60">
            <p className="min-w-0 flex-1 truncate">
              <span className="font-medium">{one.name}</span>{" "}
              <span className="text-muted">{one.role.name}</span>
            </p>
            <Button kind="quiet" aria-label={`Leave ${one.name}`} onPress={() => setLeaving(one)}>
              Leave
            </Button>
          </li>
        ))}
      </ul>
      {leaving && <Leave workspace={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}
