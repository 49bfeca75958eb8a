/** Choosing a role: each with what it is for; those that the person may not give are closed and say why. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace, type Workspace } from "../../api/session.tsx";
import { Choice } from "../../parts/choice.tsx";
import { missingOf } from "../../parts/permissions.ts";

export type Role = Schema<"Role">;

const OWNER = "owner";

export function useRoles() {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["roles", workspace.id],
    queryFn: ({ signal }) => api.listRoles({ signal }),
  });
}

/** Why the person may not give, change or take away a role; undefined when they may. */
export function obstacleTo({ permissions, role: own }: Workspace, role: Role): string | undefined {
  if (role.id === OWNER && own.key !== OWNER) return "Only owners make and remove owners.";
  const missing = missingOf(permissions, role.permissions);
  return missing.length === 0 ? undefined : `Your role (${own.name}) lacks ${missing.join(", ")}.`;
}

interface Props {
  readonly label: string;
  readonly isBare?: boolean;
  readonly value: string | null;
  readonly onChange: (role: string) => void;
}

export function RoleChoice({ label, isBare = false, value, onChange }: Props) {
  const { workspace } = usePlace();
  const { data: roles = [] } = useRoles();
  const closed = new Map(
    roles.flatMap((role) => {
      const obstacle = obstacleTo(workspace, role);
      return obstacle === undefined ? [] : [[role.id, obstacle] as const];
    }),
  );
  return (
    <Choice
      label={label}
      isBare={isBare}
      isRequired
      options={roles.map(({ id, name, description }) => ({
        id,
        name,
        description: closed.get(id) ?? description,
      }))}
      disabledKeys={closed.keys()}
      value={value}
      onChange={(role) => onChange(String(role))}
    />
  );
}
