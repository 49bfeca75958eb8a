/** What operators do to workspaces, over HTTP: the same functions as the command line. */
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid, required } from "#platform/errors.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields, textField } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import { asWorkspaceId, type WorkspaceId } from "#platform/ids.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import { formatMoney } from "#workspace/billing/format-money.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import { planNameOf } from "#workspace/billing/plan-of-account.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { listSubscriptions } from "#workspace/billing/subscription-store.ts";
import { readAmount, topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspaceIn, type WorkspaceChanges } from "#workspace/change-workspace.ts";
import { LARGEST_CAP, planNames } from "#workspace/workspaces/workspace.ts";
import {
  countWorkspaces,
  findCredit,
  findWorkspaceFigures,
  insertCredit,
  listWorkspaceFigures,
  type WorkspaceFigures,
} from "./store.ts";

const hourly_cap = nullable(
  Type.Integer({
    minimum: 1,
    maximum: LARGEST_CAP,
    description: "Emails accepted in a full hour (UTC) at most; null: no cap.",
  }),
);

const OperatedWorkspace = Type.Object(
  {
    id: Id,
    name: Type.String({ description: "Its name." }),
    timezone: Type.String({ description: "IANA time zone." }),
    plan: Type.Enum([...planNames], { description: "The plan in force." }),
    plan_set: Type.Enum([...planNames], {
      description: "The plan that the operator has set; a subscription has precedence over it.",
    }),
    hourly_cap,
    is_suspended: Type.Boolean({ description: "Whether it can read, but not send or change anything." }),
    balance: Type.String({ description: "Prepaid balance, US dollars, an exact decimal." }),
    emails_used: Type.Integer({ description: "Emails counted in the current billing month." }),
    teammate_count: Type.Integer({ description: "How many people are members." }),
    created_at: Timestamp,
  },
  { $id: "OperatedWorkspace" },
);

const OperatedChanges = Type.Object(
  {
    plan: Type.Optional(
      Type.Enum([...planNames], {
        description: "Puts the plan in force at once, and ends a subscription.",
      }),
    ),
    hourly_cap: Type.Optional(hourly_cap),
  },
  { $id: "OperatedWorkspaceChanges" },
);

const Credit = Type.Object(
  {
    amount: Type.String({
      minLength: 1,
      maxLength: 20,
      description: "US dollars above 0, with at most two decimals, such as `10.00`.",
    }),
    reference: Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        "Your reference of the payment, such as the number of a bank transfer. A second request with it credits nothing.",
    }),
    note: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: "Description of the ledger entry." }),
    ),
  },
  { $id: "OperatorCredit" },
);

const Credited = Type.Object(
  {
    transaction_id: Type.Unsafe<string>({ ...Id, description: "The ledger entry." }),
    amount: Type.String({ description: "US dollars." }),
    balance: Type.String({ description: "The balance now, US dollars." }),
    is_repeated: Type.Boolean({ description: "Whether the reference had been credited before." }),
  },
  { $id: "OperatorCredited" },
);

export interface OperatorDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  /** Clears the authenticator's caches, which have settings of workspaces. */
  readonly forgetKeys: () => void;
}

export function operatorEndpoints({ db, clock, plans, forgetKeys }: OperatorDeps): Endpoint[] {
  async function shown(
    read: Queryable,
    workspaces: readonly WorkspaceFigures[],
  ): Promise<Static<typeof OperatedWorkspace>[]> {
    const subscriptions = await listSubscriptions(
      read,
      workspaces.map(({ id }) => id),
    );
    return workspaces.map((workspace) => {
      const { id, name, timezone, plan, is_suspended, balance, emails_used, teammate_count, created_at } =
        workspace;
      const subscription = subscriptions.get(id) ?? null;
      return {
        id,
        name,
        timezone,
        plan: planNameOf({ plan, subscription }, clock.now()),
        plan_set: plan,
        hourly_cap: workspace.hourly_cap,
        is_suspended,
        balance: formatMoney(balance),
        emails_used,
        teammate_count,
        created_at,
      };
    });
  }

  async function one(read: Queryable, workspaceId: WorkspaceId): Promise<Static<typeof OperatedWorkspace>> {
    const found = required(await findWorkspaceFigures(read, workspaceId, clock.now()), "Workspace");
    return required((await shown(read, [found]))[0], "Workspace");
  }

  async function change(id: string, changes: WorkspaceChanges): Promise<Static<typeof OperatedWorkspace>> {
    const workspaceId = asWorkspaceId(id);
    const changed = await db.transaction(async (tx) => {
      await changeWorkspaceIn(tx, workspaceId, changes, { clock, plans });
      return one(tx, workspaceId);
    });
    forgetKeys();
    return changed;
  }

  return [
    endpoint({
      id: "listOperatedWorkspaces",
      method: "GET",
      path: "/operator/workspaces",
      summary: "All workspaces with their figures, newest first (operators)",
      description:
        "Search by part of the name, by id, or by the address of a teammate. Figures are those of the present month.",
      needs: "operator",
      query: {
        ...cursorFields(),
        search: textField(320, "Part of the name, the id, or the address of a teammate."),
        status: choiceField(["active", "suspended"], "Only workspaces in this state."),
      },
      answer: pageOf("workspaces", OperatedWorkspace),
      message: "Workspaces",
      async handle({ query }) {
        const { search, status } = query;
        const filter = { search, is_suspended: status === undefined ? undefined : status === "suspended" };
        const walk = new ListPage(query, "listOperatedWorkspaces", search, status);
        const rows = await listWorkspaceFigures(db, filter, walk.page, clock.now());
        const page = walk.shown(rows, await countWorkspaces(db, filter), ({ id }) => id);
        return { workspaces: await shown(db, page.rows), pagination: page.pagination };
      },
    }),
    endpoint({
      id: "getOperatedWorkspace",
      method: "GET",
      path: "/operator/workspaces/{id}",
      summary: "One workspace with its figures (operators)",
      description: "Settings, plan, balance and figures of the present month.",
      needs: "operator",
      answer: OperatedWorkspace,
      message: "Workspace",
      handle: ({ params }) => one(db, asWorkspaceId(params.id)),
    }),
    endpoint({
      id: "updateOperatedWorkspace",
      method: "PATCH",
      path: "/operator/workspaces/{id}",
      summary: "Change plan or hourly cap of a workspace; omitted fields stay (operators)",
      description:
        "A new plan applies from now on, and replaces a subscription; earlier usage is charged under the old plan.",
      needs: "operator",
      confirmed: true,
      body: OperatedChanges,
      answer: OperatedWorkspace,
      message: "Workspace updated",
      handle: ({ params, body: { plan, hourly_cap: cap } }) =>
        change(params.id, {
          ...(plan !== undefined && { plan }),
          ...(cap !== undefined && { hourly_cap: cap }),
        }),
    }),
    endpoint({
      id: "suspendWorkspace",
      method: "POST",
      path: "/operator/workspaces/{id}/suspend",
      summary: "Suspend a workspace: it can read, but not send or change anything (operators)",
      description:
        "Its queued mail is held, and its keys and members get 403 `SERVICE_SUSPENDED` for all but reading. Suspending twice has no further effect.",
      needs: "operator",
      confirmed: true,
      answer: OperatedWorkspace,
      message: "Workspace suspended",
      handle: ({ params }) => change(params.id, { is_suspended: true }),
    }),
    endpoint({
      id: "resumeWorkspace",
      method: "POST",
      path: "/operator/workspaces/{id}/resume",
      summary: "End the suspension of a workspace (operators)",
      description: "Held mail is sent again. Resuming twice has no further effect.",
      needs: "operator",
      confirmed: true,
      answer: OperatedWorkspace,
      message: "Workspace resumed",
      handle: ({ params }) => change(params.id, { is_suspended: false }),
    }),
    endpoint({
      id: "creditWorkspace",
      method: "POST",
      path: "/operator/workspaces/{id}/credits",
      summary: "Record a payment: adds to the balance, once for each reference (operators)",
      description:
        "The reference, such as the number of a bank transfer, makes a repeated call safe: the same reference is credited once, and answered with 409 if the amount differs.",
      needs: "operator",
      confirmed: true,
      body: Credit,
      answer: Credited,
      status: 201,
      message: ({ is_repeated }) => (is_repeated ? "The payment was credited before" : "Payment credited"),
      errors: ["CONFLICT"],
      handle({ params, body }) {
        const workspaceId = asWorkspaceId(params.id);
        const amount = readAmount(body.amount);
        const reference = body.reference.trim();
        if (reference === "") throw invalid({ field: "reference", message: "reference must not be blank" });
        const now = clock.now();
        return db.transaction(async (tx) => {
          required(await findWorkspaceFigures(tx, workspaceId, now), "Workspace");
          // Locks the account, so that two requests with one reference come one after another.
          await settleAccount(tx, plans, workspaceId, now);
          const before = await findCredit(tx, workspaceId, reference);
          if (before !== undefined && before.amount !== amount) {
            throw new ApiError(
              "CONFLICT",
              `The reference was credited before, with ${before.amount} USD: use another one`,
            );
          }
          let transactionId = before?.transaction_id;
          if (transactionId === undefined) {
            const description = body.note ?? "Top-up recorded by the operator";
            const given = { amount, gateway: "manual", description } as const;
            ({ transactionId } = await topUp(tx, plans, workspaceId, given, now));
            await insertCredit(tx, workspaceId, reference, { transaction_id: transactionId, amount });
          }
          const { balance } = await one(tx, workspaceId);
          return { transaction_id: transactionId, amount, balance, is_repeated: before !== undefined };
        });
      },
    }),
  ];
}
