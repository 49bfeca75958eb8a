/** The roles: those that every workspace has, and those made here, each with what it may do in words. */
import { ChevronRight, Plus } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, Disclosure, DisclosurePanel } from "react-aria-components";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu, type MenuAct } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted } from "../../parts/numbers.ts";
import { SkeletonLines } from "../../parts/skeleton-lines.tsx";
import { obstacleTo, type Role, useRoles } from "./role-choice.tsx";
import { RoleDialog } from "./role-dialog.tsx";

type Open = { readonly act: "make" | "change" | "delete"; readonly role?: Role };

export function Roles() {
  const { workspace } = usePlace();
  const { data, error, refetch } = useRoles();
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const actsOf = (role: Role): MenuAct[] => {
    if (!mayCall(workspace, "createRole")) return [];
    const like = { name: "Make a role like it", run: () => setOpen({ act: "make", role }) };
    if (role.is_built_in || obstacleTo(workspace, role) !== undefined) return [like];
    return [
      { name: "Change", run: () => setOpen({ act: "change", role }) },
      like,
      { name: "Delete", run: () => setOpen({ act: "delete", role }), isDanger: true },
    ];
  };
  if (error) return <Failure error={error} onRetry={refetch} />;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 pb-2">
        <p className="min-w-0 flex-1 text-muted">
          A role says what its people may do. Those of every workspace cannot be changed; make your own beside
          them.
        </p>
        {mayCall(workspace, "createRole") && (
          <Button onPress={() => setOpen({ act: "make" })}>
            <Plus size={16} aria-hidden /> New role
          </Button>
        )}
      </div>
      {!data && <SkeletonLines count={8} />}
      <ul aria-label="Roles">
        {data?.map((role) => (
          <RoleRow key={role.id} role={role} acts={actsOf(role)} />
        ))}
      </ul>
      {(open?.act === "make" || open?.act === "change") && (
        <RoleDialog {...(open.role && { role: open.role })} isNew={open.act === "make"} onClose={close} />
      )}
      {open?.act === "delete" && open.role && <DeleteRole role={open.role} onClose={close} />}
    </>
  );
}

function RoleRow({ role, acts }: { readonly role: Role; readonly acts: readonly MenuAct[] }) {
  const { name, description, is_built_in, teammate_count, permissions_in_words } = role;
  return (
    <li className="border-b border-line/60">
      <Disclosure>
        <div className="flex min-h-14 items-center gap-3 py-2">
          <AriaButton
            slot="trigger"
            className="group flex min-h-10 min-w-0 flex-1 items-center gap-2 rounded text-left"
          >
            <ChevronRight
              size={14}
              aria-hidden
              className="shrink-0 text-muted transition-transform duration-100 group-aria-expanded:rotate-90"
            />
            <span className="min-w-0">
              <span className="block font-medium">
                {name} {!is_built_in && <span className="font-normal text-muted">(made here)</span>}
              </span>
              {description && <span className="block text-muted">{description}</span>}
            </span>
          </AriaButton>
          <span className="shrink-0 text-muted">{counted(teammate_count, "person", "people")}</span>
          <div className="w-8 shrink-0">
            <ActMenu label={`Acts on ${name}`} acts={acts} />
          </div>
        </div>
        <DisclosurePanel>
          <ul className="gap-x-8 pb-4 pl-6 sm:columns-2">
            {permissions_in_words.map((words) => (
              <li key={words} className="break-inside-avoid py-0.5">
                {words}
              </li>
            ))}
          </ul>
        </DisclosurePanel>
      </Disclosure>
    </li>
  );
}

function DeleteRole({ role, onClose }: { readonly role: Role; readonly onClose: () => void }) {
  const { api } = usePlace();
  const { id, name, teammate_count } = role;
  const remove = useAct({
    run: () => api.deleteRole({ id }),
    changes: ["roles"],
    done: `The role ${name} is deleted`,
    onDone: onClose,
  });
  return (
    <Question
      title={`Delete the role ${name}?`}
      isOpen
      onClose={onClose}
      act="Delete the role"
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
    >
      {teammate_count === 0
        ? "No person has it. This cannot be undone."
        : `${counted(teammate_count, "person has", "people have")} it: give them another role first.`}
    </Question>
  );
}
