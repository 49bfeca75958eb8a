/** What all pages share: navigation by job, the workspace, and what holds everywhere. */
import type { Operations } from "@posthaste/client";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import {
  Ban,
  Globe,
  House,
  KeyRound,
  List,
  ListChecks,
  ListFilter,
  type LucideIcon,
  Mail,
  Megaphone,
  PanelLeft,
  UserRound,
  Users,
} from "lucide-react";
import { useState } from "react";
import { mayCall, usePlace } from "../api/session.tsx";
import { IconButton } from "../parts/button.tsx";
import { useKeys } from "../parts/keys.ts";
import { UndoBar } from "../parts/undo.tsx";
import { PersonMenu, WorkspaceMenu } from "./menus.tsx";
import { Palette } from "./palette.tsx";

interface Page {
  readonly to: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** The operation that fills it: a role that may not call it does not see the page. */
  readonly lists?: keyof Operations;
  /** The key after `g`. */
  readonly key?: string;
}

const groups: readonly { readonly name?: string; readonly pages: readonly Page[] }[] = [
  { pages: [{ to: "", name: "Home", icon: House, key: "h" }] },
  {
    name: "Send",
    pages: [{ to: "campaigns", name: "Campaigns", icon: Megaphone, lists: "listCampaigns", key: "c" }],
  },
  {
    name: "Audience",
    pages: [
      { to: "people", name: "People", icon: UserRound, lists: "listSubscribers", key: "p" },
      { to: "lists", name: "Lists", icon: List, lists: "listMailingLists", key: "l" },
      { to: "segments", name: "Segments", icon: ListFilter, lists: "listSegments", key: "s" },
      { to: "suppression", name: "Suppression", icon: Ban, lists: "listSuppressionLists", key: "b" },
    ],
  },
  {
    name: "Delivery",
    pages: [
      { to: "messages", name: "Messages", icon: Mail, lists: "listMessages", key: "m" },
      { to: "domains", name: "Domains & senders", icon: Globe, lists: "listSendingDomains", key: "d" },
    ],
  },
  {
    name: "Build",
    pages: [
      { to: "api-keys", name: "API keys", icon: KeyRound, lists: "listApiKeys", key: "k" },
      { to: "jobs", name: "Jobs", icon: ListChecks, lists: "listJobs", key: "j" },
    ],
  },
  { name: "Settings", pages: [{ to: "team", name: "Team", icon: Users, lists: "listTeammates", key: "t" }] },
];

export function Shell() {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const [isFolded, setFolded] = useState(() => localStorage.getItem("side-bar") === "folded");
  const fold = () => {
    localStorage.setItem("side-bar", isFolded ? "open" : "folded");
    setFolded(!isFolded);
  };
  const pages = groups.flatMap((group) => group.pages);
  const goTo = ({ to }: Page) => navigate({ to: `/${workspace.id}/${to}` });
  useKeys({
    "[": fold,
    ...Object.fromEntries(pages.flatMap((page) => (page.key ? [[`g ${page.key}`, () => goTo(page)]] : []))),
  });
  return (
    <div className={`grid min-h-dvh ${isFolded ? "md:grid-cols-[56px_1fr]" : "md:grid-cols-[224px_1fr]"}`}>
      <a
        href="#page"
        className="absolute -top-20 left-2 z-50 rounded-control bg-accent px-3 py-1 text-on-accent focus:top-2"
      >
        Skip to the page
      </a>
      <aside className="sticky top-0 flex h-dvh flex-col border-r border-line bg-canvas max-md:hidden">
        <div
          className={`flex h-12 items-center gap-1 px-3 ${isFolded ? "justify-center" : "justify-between"}`}
        >
          {!isFolded && <WorkspaceMenu />}
          <IconButton
            label={isFolded ? "Unfold the side bar" : "Fold the side bar"}
            hint="["
            icon={<PanelLeft size={16} aria-hidden />}
            onPress={fold}
          />
        </div>
        <Navigation isFolded={isFolded} />
        <div className="mt-auto border-t border-line p-2">
          <PersonMenu isFolded={isFolded} />
        </div>
      </aside>
      <main id="page" tabIndex={-1} className="flex h-dvh min-w-0 flex-col bg-surface outline-none">
        {workspace.is_suspended && (
          <p role="status" className="border-b border-line bg-bad/10 px-6 py-2 text-bad">
            This workspace is suspended: nothing is sent until the operator resumes it.
          </p>
        )}
        <div className="min-h-0 flex-1 overflow-auto">
          <Outlet />
        </div>
      </main>
      <UndoBar />
      <Palette
        pages={pages.map(({ to, name, key }) => ({
          id: `page ${to}`,
          title: name,
          subtitle: key ? `g ${key}` : "",
          to: `/${workspace.id}/${to}`,
        }))}
      />
    </div>
  );
}

function Navigation({ isFolded }: { readonly isFolded: boolean }) {
  const { workspace } = usePlace();
  return (
    <nav aria-label="Pages" className="flex flex-col gap-4 overflow-y-auto px-2 py-2">
      {groups.map(({ name, pages }) => {
        const shown = pages.filter(({ lists }) => lists === undefined || mayCall(workspace, lists));
        if (shown.length === 0) return null;
        return (
          <div key={name ?? "home"}>
            {name && !isFolded && <p className="px-2 pb-1 text-small font-medium text-muted">{name}</p>}
            <ul>
              {shown.map(({ to, name: title, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={`/${workspace.id}/${to}`}
                    activeOptions={{ exact: to === "", includeSearch: false }}
                    title={isFolded ? title : undefined}
                    aria-label={title}
                    className={`flex h-8 items-center gap-2.5 rounded-control px-2 text-muted hover:bg-sunken hover:text-text aria-[current=page]:bg-selected aria-[current=page]:font-medium aria-[current=page]:text-text ${isFolded ? "justify-center" : ""}`}
                  >
                    <Icon size={16} aria-hidden />
                    {!isFolded && title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
