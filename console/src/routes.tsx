/** Every page and its address. Pages are chunks of their own; the filter of a list is its address. */

import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  useParams,
} from "@tanstack/react-router";
import { apiOf } from "./api/client.ts";
import { PlaceProvider, sessionQuery, useSession } from "./api/session.tsx";
import { Shell } from "./shell/shell.tsx";

interface Context {
  readonly queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  component: lazyRouteComponent(() => import("./pages/sign-in/sign-in-page.tsx"), "SignInPage"),
});

const welcome = createRoute({
  getParentRoute: () => root,
  path: "welcome",
  component: lazyRouteComponent(() => import("./pages/sign-in/welcome-page.tsx"), "WelcomePage"),
});

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
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: "/sign-in", search: { back: location.href } as never });
  },
  component: WorkspaceFrame,
});

function WorkspaceFrame() {
  const { workspace: id = "" } = useParams({ strict: false }) as { readonly workspace?: string };
  const session = useSession();
  const open = session?.workspaces.find((one) => one.id === id);
  if (!session || !open) return <p className="p-8">You are not a member of this workspace.</p>;
  localStorage.setItem("workspace", id);
  return (
    <PlaceProvider value={{ session, workspace: open, api: apiOf(id) }}>
      <Shell />
    </PlaceProvider>
  );
}

const messages = createRoute({
  getParentRoute: () => workspace,
  path: "messages",
  component: lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "MessagesPage"),
});

const message = createRoute({
  getParentRoute: () => workspace,
  path: "messages/$message",
  component: lazyRouteComponent(() => import("./pages/messages/message-page.tsx"), "MessagePage"),
});

const home = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  component: lazyRouteComponent(() => import("./pages/home/home-page.tsx"), "HomePage"),
});

const domains = createRoute({
  getParentRoute: () => workspace,
  path: "domains",
  component: lazyRouteComponent(() => import("./pages/domains/domains-page.tsx"), "DomainsPage"),
});

const domain = createRoute({
  getParentRoute: () => workspace,
  path: "domains/$domain",
  component: lazyRouteComponent(() => import("./pages/domains/domain-page.tsx"), "DomainPage"),
});

const apiKeys = createRoute({
  getParentRoute: () => workspace,
  path: "api-keys",
  component: lazyRouteComponent(() => import("./pages/api-keys/api-keys-page.tsx"), "ApiKeysPage"),
});

const team = createRoute({
  getParentRoute: () => workspace,
  path: "team",
  component: lazyRouteComponent(() => import("./pages/team/team-page.tsx"), "TeamPage"),
});

export function createPages(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([
      start,
      signIn,
      welcome,
      workspace.addChildren([home, messages, message, domains, domain, apiKeys, team]),
    ]),
    basepath: "/console",
    context: { queries },
    defaultPreload: "intent",
    scrollRestoration: true,
  });
}
