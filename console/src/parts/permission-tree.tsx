/** Choosing permissions: what covers everything first, then each resource with its actions. What one may not grant is closed. */
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { Button, Disclosure, DisclosurePanel } from "react-aria-components";
import { holds, usePlace } from "../api/session.tsx";
import { Failure } from "./failure.tsx";
import { catalogueQuery, missingOf, type Resource, withPermission } from "./permissions.ts";
import { Checkbox } from "./toggle.tsx";

interface Props {
  readonly label: string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

export function PermissionTree({ label, chosen, onChange }: Props) {
  const place = usePlace();
  const { workspace } = place;
  const { data, error, refetch } = useQuery(catalogueQuery(place));
  if (error) return <Failure error={error} onRetry={refetch} />;
  const resources = data?.resources ?? [];
  const groups = [...new Set(resources.map(({ group }) => group))];
  const all = [...(data?.wildcards ?? []).map(({ value }) => value), ...resources.map((one) => one.wildcard)];
  const isLimited = missingOf(workspace.permissions, all).length > 0;
  const choice = { chosen, onChange };
  return (
    <fieldset>
      <legend className="font-medium">{label}</legend>
      {isLimited && (
        <p className="text-small text-muted">
          What your role ({workspace.role.name}) lacks is closed: you cannot give more than you have.
        </p>
      )}
      <div className="mt-2 h-64 overflow-y-auto rounded-control border border-line px-4 py-2">
        {data?.wildcards.map(({ value, label: text }) => (
          <Grant key={value} value={value} text={text} {...choice} />
        ))}
        {groups.map((group) => (
          <section key={group} aria-label={group} className="mt-3">
            <h3 className="border-b border-line pb-1 text-small font-medium text-muted">{group}</h3>
            {resources
              .filter((one) => one.group === group)
              .map((resource) => (
                <ResourceRow key={resource.resource} resource={resource} {...choice} />
              ))}
          </section>
        ))}
      </div>
    </fieldset>
  );
}

type Choice = Pick<Props, "chosen" | "onChange">;

function ResourceRow({ resource, ...choice }: Choice & { readonly resource: Resource }) {
  const { label, wildcard, actions, covers } = resource;
  return (
    <Disclosure className="border-b border-line/60 py-1 last:border-0">
      <div className="flex flex-wrap items-baseline gap-x-4">
        <Button
          slot="trigger"
          aria-label={`Calls of ${label}`}
          className="group flex min-h-6 min-w-44 flex-1 items-center gap-1 rounded text-left"
        >
          <ChevronRight
            size={14}
            aria-hidden
            className="shrink-0 text-muted transition-transform duration-100 group-aria-expanded:rotate-90"
          />
          {label}
        </Button>
        <div className="flex flex-wrap gap-x-4 max-sm:pl-5">
          {actions.map(({ value, label: action }) => (
            <Grant key={value} value={value} text={action} of={label} {...choice} />
          ))}
          <Grant value={wildcard} text="Everything" of={label} {...choice} />
        </div>
      </div>
      <DisclosurePanel>
        <ul className="pb-1 pl-5 font-mono text-small text-muted">
          {covers.map((path) => (
            <li key={path} className="break-all">
              {path}
            </li>
          ))}
        </ul>
      </DisclosurePanel>
    </Disclosure>
  );
}

function Grant({
  value,
  text,
  of,
  chosen,
  onChange,
}: Choice & { readonly value: string; readonly text: string; readonly of?: string }) {
  const { workspace } = usePlace();
  const isChosen = chosen.includes(value);
  const isCovered = !isChosen && holds(chosen, value);
  const isLacking = !holds(workspace.permissions, value);
  return (
    <Checkbox
      label={of === undefined ? text : `${of}: ${text}`}
      isSelected={isChosen || isCovered}
      isDisabled={isCovered || (isLacking && !isChosen)}
      onChange={(isSelected) =>
        onChange(isSelected ? withPermission(chosen, value) : chosen.filter((one) => one !== value))
      }
    >
      {text}
    </Checkbox>
  );
}
