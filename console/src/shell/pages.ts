/** The pages of a workspace, grouped by the work that people do there. */
import type { Operations } from "@posthaste/client";
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
  UserRound,
  Users,
} from "lucide-react";
import { mayCall, type Workspace } from "../api/session.tsx";

export interface PageEntry {
  readonly to: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** The operation that fills it: a role that may not call it does not see the page. */
  readonly lists?: keyof Operations;
  /** The key after `g`. */
  readonly key?: string;
}

interface PageGroup {
  readonly name?: string;
  readonly pages: readonly PageEntry[];
}

const groups: readonly PageGroup[] = [
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

/** What the person may open, in the order of the side bar. */
export function groupsFor(workspace: Workspace): readonly PageGroup[] {
  return groups
    .map(({ pages, ...group }) => ({ ...group, pages: pages.filter((page) => mayOpen(workspace, page)) }))
    .filter(({ pages }) => pages.length > 0);
}

/** The page, of all, that a path below the workspace belongs to. */
function pageAt(path: string): PageEntry | undefined {
  const [first = ""] = path.split("/");
  return groups.flatMap(({ pages }) => pages).find(({ to }) => to === first);
}

/** Pages that need more than the list from which people come to them. */
const deeper: readonly (PageEntry & { readonly at: RegExp })[] = [
  { at: /^lists\/[^/]+\/import$/, to: "lists", name: "Import", icon: List, lists: "importSubscribers" },
  { at: /^lists\/[^/]+\/segments\//, to: "lists", name: "Segment", icon: ListFilter, lists: "getSegment" },
  {
    at: /^lists\/[^/]+\/segments\/new$/,
    to: "lists",
    name: "New segment",
    icon: List,
    lists: "createSegment",
  },
];

/** The page at a path below the workspace, or one above it, that the role of the person does not open. */
export function closedPage(workspace: Workspace, path: string): PageEntry | undefined {
  const [place = ""] = path.split("?");
  const above = pageAt(place);
  const pages = [...(above ? [above] : []), ...deeper.filter(({ at }) => at.test(place))];
  return pages.find((page) => !mayOpen(workspace, page));
}

export function mayOpen(workspace: Workspace, { lists }: PageEntry): boolean {
  return lists === undefined || mayCall(workspace, lists);
}

export interface MakeEntry {
  readonly name: string;
  readonly to: string;
  readonly operation: keyof Operations;
  /** The key after `n`. */
  readonly key: string;
}

/** What can be made, on the page where it is made; `?new=true` opens the form there. */
const makes: readonly MakeEntry[] = [
  { name: "Create a campaign", to: "campaigns", operation: "createCampaign", key: "c" },
  { name: "Create a list", to: "lists", operation: "createMailingList", key: "l" },
  { name: "Add a domain", to: "domains", operation: "createSendingDomain", key: "d" },
  { name: "Create an API key", to: "api-keys", operation: "createApiKey", key: "k" },
  { name: "Invite a teammate", to: "team", operation: "inviteTeammate", key: "t" },
];

export function makesFor(workspace: Workspace): readonly MakeEntry[] {
  return makes.filter(({ operation }) => mayCall(workspace, operation));
}
