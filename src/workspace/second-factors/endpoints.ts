/** The own second factors of a person over HTTP. */

import { Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid, notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { Deleted, described, Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { accountNotice } from "#workspace/people/account-mails.ts";
import { renewSession } from "#workspace/people/open-session.ts";
import { updateSessionsWithoutFactor } from "#workspace/people/sessions-store.ts";
import { lockUser } from "#workspace/people/users-store.ts";
import { LONGEST_NAME, readName } from "#workspace/read-display-name.ts";
import { beginConfirmationAttempt, endAttempt } from "#workspace/sign-in/attempts.ts";
import type { SignInDeps } from "#workspace/sign-in/sign-in.ts";
import { removeChallengesOf } from "./challenges-store.ts";
import { NewPasskeyAnswer, PasskeyOptions } from "./passkeys.ts";
import { newRecoveryCodes } from "./recovery-codes.ts";
import {
  countRecoveryCodes,
  type FactorRow,
  listFactors,
  removeFactor,
  replaceRecoveryCodes,
  updateFactorName,
} from "./store.ts";

/** A person needs a few devices. */
const MOST_FACTORS = 20;

const name = Type.String({
  minLength: 1,
  maxLength: LONGEST_NAME,
  description: "A name by which you recognise it, such as `Phone`.",
});

const SecondFactor = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Id of the factor." }),
    kind: Type.Union([Type.Literal("authenticator_app"), Type.Literal("passkey")], {
      description: "`authenticator_app`: codes of an app (TOTP). `passkey`: a key of a device (WebAuthn).",
    }),
    name,
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When it was added." }),
    last_used_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When it was last used; null: never.",
    }),
  },
  { $id: "SecondFactor" },
);

const SecondFactorList = Type.Object(
  {
    factors: Type.Array(SecondFactor, { description: "Your factors, oldest first." }),
    recovery_codes_left: Type.Integer({ description: "Number of recovery codes that were not used." }),
  },
  { $id: "SecondFactorList" },
);

const recoveryCodes = Type.Array(Type.String(), {
  description: "Ten codes that work once each in place of a factor. Only this answer has them.",
});

const NewSecondFactor = Type.Object(
  {
    factor: described(SecondFactor, "The factor that was added."),
    recovery_codes: nullable(Type.Unsafe<string[]>(recoveryCodes)),
  },
  { $id: "NewSecondFactor", description: "`recovery_codes` is null if you had a factor before." },
);

const RecoveryCodes = Type.Object({ recovery_codes: recoveryCodes }, { $id: "RecoveryCodes" });

const FactorName = Type.Object({ name }, { $id: "FactorName" });

const AppSetUp = Type.Object(
  {
    secret: Type.String({ description: "The secret in Base32, for apps that cannot read the QR code." }),
    uri: Type.String({ description: "The otpauth URI, to be shown as a QR code." }),
    expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "Until when the first code can be sent." }),
  },
  { $id: "AuthenticatorAppSetUp" },
);

const AppCode = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 20, description: "The six digits that the app shows." }) },
  { $id: "AuthenticatorAppCode" },
);

const PasskeySetUp = Type.Object(
  {
    challenge: Type.String({ description: "Token to send back with the passkey. It works for ten minutes." }),
    passkey_options: PasskeyOptions,
    expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the token stops working." }),
  },
  { $id: "PasskeySetUp" },
);

const NewPasskey = Type.Object(
  {
    challenge: Type.String({ minLength: 1, maxLength: 100, description: "The token of `startPasskey`." }),
    passkey: NewPasskeyAnswer,
    name,
  },
  { $id: "NewPasskey" },
);

export function secondFactorEndpoints(deps: SignInDeps): Endpoint[] {
  const { db, clock, factors, forgetSessions, sendAccountMail } = deps;

  /** Adds a factor with `add`; the session counts as opened with it, and gets a new token. */
  async function enrol(
    {
      actor,
    }: { readonly actor: { readonly id: string; readonly sessionId: string; readonly email: string } },
    cookies: Parameters<typeof renewSession>[2],
    add: (tx: Queryable) => Promise<string | null>,
  ): Promise<{ factor: FactorRow; recovery_codes: string[] | null } | null> {
    const now = clock.now();
    const result = await db.transaction(async (tx) => {
      await lockUser(tx, actor.id);
      const before = await listFactors(tx, actor.id);
      requireRoom(before);
      const id = await add(tx);
      if (id === null) return null;
      const factor = (await listFactors(tx, actor.id)).find((one) => one.id === id);
      if (factor === undefined) return null;
      const recovery_codes = before.length === 0 ? await newRecoveryCodes(tx, actor.id) : null;
      await removeChallengesOf(tx, actor.id);
      await renewSession(tx, actor.sessionId, cookies, now, { hasSecondFactor: true });
      await sendAccountMail(
        tx,
        accountNotice(
          actor.email,
          "A second factor was added",
          `Your account has a new second factor: ${kindText(factor)}.`,
        ),
      );
      return { factor, recovery_codes };
    });
    if (result !== null) forgetSessions();
    return result;
  }

  return [
    endpoint({
      id: "listSecondFactors",
      method: "GET",
      path: "/me/second-factors",
      summary: "Your second factors, and how many recovery codes are left",
      description: "Authenticator apps and passkeys with their names and the times of their last use.",
      needs: "signed in",
      answer: SecondFactorList,
      message: "Second factors",
      handle: async ({ caller: { actor } }) => ({
        factors: await listFactors(db, actor.id),
        recovery_codes_left: await countRecoveryCodes(db, actor.id),
      }),
    }),
    endpoint({
      id: "startAuthenticatorApp",
      method: "POST",
      path: "/me/authenticator-apps/setup",
      summary: "Begin to set up an authenticator app; it counts when its first code is confirmed",
      description:
        "Answers the secret, and the `otpauth:` address to show as a QR code. It takes effect when `confirmAuthenticatorApp` gets a code of the app.",
      needs: "signed in",
      confirmed: true,
      body: FactorName,
      answer: AppSetUp,
      status: 201,
      message: "Scan the code with the app, then confirm with its first code",
      errors: ["CONFLICT"],
      async handle({ caller: { actor }, body }) {
        const { secret, uri, expires_at } = await db.transaction(async (tx) => {
          await lockUser(tx, actor.id);
          requireRoom(await listFactors(tx, actor.id));
          return factors.setUpApp(tx, actor, readName(body.name), clock.now());
        });
        return { secret, uri, expires_at };
      },
    }),
    endpoint({
      id: "confirmAuthenticatorApp",
      method: "POST",
      path: "/me/authenticator-apps",
      summary: "Add the authenticator app that is being set up, with its first code",
      description:
        "The first second factor comes with ten recovery codes, which are shown only in this answer.",
      needs: "signed in",
      confirmed: true,
      body: AppCode,
      answer: NewSecondFactor,
      status: 201,
      message: "Authenticator app added",
      errors: ["CONFLICT"],
      async handle({ caller, body, cookies }) {
        const { actor } = caller;
        const attempt = await beginConfirmationAttempt(db, actor.sessionId, clock.now());
        const added = await enrol(caller, cookies, (tx) =>
          factors.confirmApp(tx, actor.id, body.code, clock.now()),
        );
        if (added === null) {
          throw invalid({
            field: "code",
            message: "code is wrong, or the set-up has expired: send the code that the app shows now",
          });
        }
        await endAttempt(db, attempt);
        return added;
      },
    }),
    endpoint({
      id: "startPasskey",
      method: "POST",
      path: "/me/passkeys/setup",
      summary: "Begin to add a passkey",
      description:
        "Answers the options for the browser's `navigator.credentials.create()`. Send its result to `addPasskey`.",
      needs: "signed in",
      confirmed: true,
      answer: PasskeySetUp,
      status: 201,
      message: "Let the browser create the passkey",
      errors: ["CONFLICT"],
      handle: ({ caller: { actor } }) =>
        db.transaction(async (tx) => {
          requireRoom(await listFactors(tx, actor.id));
          return factors.setUpPasskey(tx, actor, clock.now());
        }),
    }),
    endpoint({
      id: "addPasskey",
      method: "POST",
      path: "/me/passkeys",
      summary: "Add a passkey that the browser has created",
      description:
        "The first second factor comes with ten recovery codes, which are shown only in this answer. Passkeys are bound to the host of PUBLIC_URL.",
      needs: "signed in",
      confirmed: true,
      body: NewPasskey,
      answer: NewSecondFactor,
      status: 201,
      message: "Passkey added",
      errors: ["CONFLICT"],
      async handle({ caller, body, cookies }) {
        const given = { ...body, name: readName(body.name) };
        const added = await enrol(caller, cookies, (tx) =>
          factors.addPasskey(tx, caller.actor.id, given, clock.now()),
        );
        if (added === null) {
          throw invalid({
            field: "passkey",
            message: "passkey does not answer the challenge, or is in use already: begin again",
          });
        }
        return added;
      },
    }),
    endpoint({
      id: "renameSecondFactor",
      method: "PATCH",
      path: "/me/second-factors/{id}",
      summary: "Rename a second factor",
      description: "The name helps to tell devices apart, and has no other effect.",
      needs: "signed in",
      body: FactorName,
      answer: SecondFactor,
      message: "Second factor renamed",
      async handle({ caller: { actor }, params, body }) {
        const name = readName(body.name);
        const factor = async () =>
          required(
            (await listFactors(db, actor.id)).find(({ id }) => id === params.id),
            "Second factor",
          );
        describeAudit({ before: await factor() });
        if (!(await updateFactorName(db, actor.id, params.id, name))) throw notFound("Second factor");
        return factor();
      },
    }),
    endpoint({
      id: "removeSecondFactor",
      method: "DELETE",
      path: "/me/second-factors/{id}",
      summary: "Remove a second factor; with the last one the recovery codes stop working",
      description:
        "A lost device should be removed at once. Workspaces that require a second factor are closed to people without one.",
      needs: "signed in",
      confirmed: true,
      answer: Deleted,
      message: "Second factor removed",
      async handle({ caller: { actor }, params, cookies }) {
        await db.transaction(async (tx) => {
          await lockUser(tx, actor.id);
          if (!(await removeFactor(tx, actor.id, params.id))) throw notFound("Second factor");
          if ((await listFactors(tx, actor.id)).length === 0) {
            await replaceRecoveryCodes(tx, actor.id, []);
            await updateSessionsWithoutFactor(tx, actor.id);
          }
          await removeChallengesOf(tx, actor.id);
          await renewSession(tx, actor.sessionId, cookies, clock.now());
          await sendAccountMail(
            tx,
            accountNotice(
              actor.email,
              "A second factor was removed",
              "A second factor was removed from your account.",
            ),
          );
        });
        forgetSessions();
        return { id: params.id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "createRecoveryCodes",
      method: "POST",
      path: "/me/recovery-codes",
      summary: "Get ten new recovery codes; the earlier ones stop working",
      description:
        "Each code replaces the second factor once. They are shown only in this answer; a person without a second factor gets 409.",
      needs: "signed in",
      confirmed: true,
      answer: RecoveryCodes,
      status: 201,
      message: "Keep the codes in a safe place; they are not shown again",
      errors: ["CONFLICT"],
      handle: ({ caller: { actor } }) =>
        db.transaction(async (tx) => {
          await lockUser(tx, actor.id);
          if ((await listFactors(tx, actor.id)).length === 0) {
            throw new ApiError("CONFLICT", "Recovery codes replace a second factor: add one first");
          }
          return { recovery_codes: await newRecoveryCodes(tx, actor.id) };
        }),
    }),
  ];
}

/** @throws ApiError CONFLICT */
function requireRoom(factors: readonly unknown[]): void {
  if (factors.length < MOST_FACTORS) return;
  throw new ApiError("CONFLICT", `An account has at most ${MOST_FACTORS} second factors: remove one first`);
}

function kindText({ kind }: FactorRow): string {
  return kind === "passkey" ? "a passkey" : "an authenticator app";
}
