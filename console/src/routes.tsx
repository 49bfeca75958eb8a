/** Every page and its address. Pages are chunks of their own; the filter of a list is its address. */

import { type QueryClient, useQuery } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  useParams,
} from "@tanstack/react-router";
import { useState } from "react";
import { apiOf } from "./api/client.ts";
import { PlaceProvider, sessionQuery, useSession } from "./api/session.tsx";
import { signInWaysQuery } from "./api/sign-in-ways.ts";
import { Gates } from "./pages/sign-in/gates.tsx";
import { browserZone, ZoneProvider } from "./parts/time.tsx";
import { BrokenPage, NoPage, NoWorkspace } from "./shell/missing-pages.tsx";
import { Shell } from "./shell/shell.tsx";

interface Context {
  readonly queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Frame });

/** Times are in the zone of the person, as soon as a page has asked who that is. */
function Frame() {
  const { data: session } = useQuery({ ...sessionQuery, enabled: false });
  return (
    <ZoneProvider value={session?.person.timezone ?? browserZone}>
      <Outlet />
      <Gates />
    </ZoneProvider>
  );
}

/** Pages without a workspace: signing in, and the links of mails. */
const outside = [
  createRoute({
    getParentRoute: () => root,
    path: "sign-in",
    component: lazyRouteComponent(() => import("./pages/sign-in/sign-in-page.tsx"), "SignInPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "welcome",
    component: lazyRouteComponent(() => import("./pages/sign-in/welcome-page.tsx"), "WelcomePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "reset",
    component: lazyRouteComponent(() => import("./pages/sign-in/reset-page.tsx"), "ResetPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "invitation",
    component: lazyRouteComponent(() => import("./pages/sign-in/invitation-page.tsx"), "InvitationPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "confirm-email",
    component: lazyRouteComponent(() => import("./pages/sign-in/confirm-email-page.tsx"), "ConfirmEmailPage"),
  }),
];

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async ({ context }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: "/sign-in" });
    const last = localStorage.getItem("workspace");
    const open = session.workspaces.find(({ id }) => id === last) ?? session.workspaces[0];
    if (open) throw redirect({ to: `/${open.id}` });
  },
});

const workspace = createRoute({
  getParentRoute: () => root,
  path: "$workspace",
  beforeLoad: async ({ context: { queries }, location }) => {
    // Whether mail is captured is said above every page, which would move when it came later.
    const [session] = await Promise.all([
      queries.ensureQueryData(sessionQuery),
      queries.prefetchQuery(signInWaysQuery),
    ]);
    if (session === null) throw redirect({ to: "/sign-in", search: { back: location.href } as never });
  },
  component: WorkspaceFrame,
});

const SecondFactorWanted = lazyRouteComponent(
  () => import("./pages/sign-in/second-factor-wanted.tsx"),
  "SecondFactorWanted",
);

function WorkspaceFrame() {
  const { workspace: id = "" } = useParams({ strict: false }) as { readonly workspace?: string };
  const session = useSession();
  const open = session?.workspaces.find((one) => one.id === id);
  /** The workspace that stays closed until the person goes on. */
  const [held, setHeld] = useState<string>();
  const lacksFactor = (open?.requires_second_factor && !session?.has_second_factor) ?? false;
  if (lacksFactor && held !== id) setHeld(id);
  if (!session || !open) return <NoWorkspace />;
  localStorage.setItem("workspace", id);
  return (
    <PlaceProvider value={{ session, workspace: open, api: apiOf(id) }}>
      {held === id ? (
        <SecondFactorWanted isReady={!lacksFactor} onGoOn={() => setHeld(undefined)} />
      ) : (
        <Shell />
      )}
    </PlaceProvider>
  );
}

/** Pages in a workspace. */
const inside = [
  createRoute({
    getParentRoute: () => workspace,
    path: "/",
    component: lazyRouteComponent(() => import("./pages/home/home-page.tsx"), "HomePage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "campaigns",
    component: lazyRouteComponent(() => import("./pages/campaigns/campaigns-page.tsx"), "CampaignsPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "campaigns/$campaign",
    component: lazyRouteComponent(() => import("./pages/campaigns/campaign-page.tsx"), "CampaignPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "people",
    component: lazyRouteComponent(() => import("./pages/people/people-list.tsx"), "PeopleList"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "people/$person",
    component: lazyRouteComponent(() => import("./pages/people/person-page.tsx"), "PersonPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "lists",
    component: lazyRouteComponent(() => import("./pages/lists/lists-page.tsx"), "ListsPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "lists/$list",
    component: lazyRouteComponent(() => import("./pages/lists/list-page.tsx"), "MailingListPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "lists/$list/import",
    component: lazyRouteComponent(() => import("./pages/imports/import-page.tsx"), "ImportPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "segments",
    component: lazyRouteComponent(() => import("./pages/segments/segments-page.tsx"), "SegmentsPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "lists/$list/segments/$segment",
    component: lazyRouteComponent(() => import("./pages/segments/segment-page.tsx"), "SegmentPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "suppression",
    component: lazyRouteComponent(
      () => import("./pages/suppression/suppression-page.tsx"),
      "SuppressionPage",
    ),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "suppression/$list",
    component: lazyRouteComponent(
      () => import("./pages/suppression/suppression-list-page.tsx"),
      "SuppressionListPage",
    ),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "messages",
    component: lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "MessagesPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "messages/$message",
    component: lazyRouteComponent(() => import("./pages/messages/message-page.tsx"), "MessagePage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "domains",
    component: lazyRouteComponent(() => import("./pages/domains/domains-page.tsx"), "DomainsPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "domains/$domain",
    component: lazyRouteComponent(() => import("./pages/domains/domain-page.tsx"), "DomainPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "api-keys",
    component: lazyRouteComponent(() => import("./pages/api-keys/api-keys-page.tsx"), "ApiKeysPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "jobs",
    component: lazyRouteComponent(() => import("./pages/jobs/jobs-page.tsx"), "JobsPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "team",
    component: lazyRouteComponent(() => import("./pages/team/team-page.tsx"), "TeamPage"),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "account",
    component: lazyRouteComponent(() => import("./pages/account/account-page.tsx"), "AccountPage"),
  }),
];

export function createPages(queries: QueryClient) {
  const pages = createRouter({
    routeTree: root.addChildren([start, ...outside, workspace.addChildren(inside)]),
    basepath: "/console",
    context: { queries },
    defaultPreload: "intent",
    defaultNotFoundComponent: NoPage,
    defaultErrorComponent: BrokenPage,
    scrollRestoration: true,
  });
  // The scripts of the first page load beside the session; the router would ask for them after it.
  const [routes] = pages.getMatchedRoutes(pages.latestLocation.pathname);
  for (const route of routes) void pages.loadRouteChunk(route);
  return pages;
}
