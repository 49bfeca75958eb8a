/** What a domain may have besides: a return path of its own, and the reports of receivers. */
import type { Data } from "@posthaste/client";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Panel } from "../../parts/page.tsx";
import { Switch } from "../../parts/toggle.tsx";

type Domain = Data<"listSendingDomains">[number];

export function DomainSwitches({ domain }: { readonly domain: Domain }) {
  const { api, workspace } = usePlace();
  const { id, domain: name, custom_return_path, dmarc_ingestion } = domain;
  const changes = ["domain", "domains"];
  const returnPath = useAct({
    run: (enabled: boolean) => api.setCustomReturnPath({ id, body: { enabled } }),
    changes,
    done: "The return path is changed",
  });
  const reports = useAct({
    run: (enabled: boolean) => api.setDmarcIngestion({ id, body: { enabled } }),
    changes,
    done: "The collection of reports is changed",
  });
  if (!mayCall(workspace, "setCustomReturnPath")) return null;
  const switches = [
    {
      act: returnPath,
      isOn: custom_return_path,
      name: "Return path of its own",
      text: `Bounces come to a name below ${name}, and SPF is aligned for DMARC. Needs one more record.`,
    },
    {
      act: reports,
      isOn: dmarc_ingestion,
      name: "DMARC reports",
      text: "Receivers report which mail of the domain passed their checks. Needs one more record.",
    },
  ];
  return (
    <Panel title="Settings">
      <ul className="flex flex-col gap-4">
        {switches.map(({ act, isOn, name: title, text }) => (
          <li key={title}>
            <Switch
              isSelected={act.isPending ? act.variables : isOn}
              onChange={(next) => !act.isPending && act.mutate(next)}
            >
              <span className="font-medium">{title}</span>
            </Switch>
            <p className="pl-11 text-muted">{text}</p>
            {act.error && <Failure error={act.error} />}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
