/** The start of single sign-on over HTTP, and the second factor of a sign-in that a page goes on with. */
import { Type } from "typebox";
import { ApiError, notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { Timestamp } from "#platform/shapes.ts";
import { countVisit } from "#workspace/sign-in/attempts.ts";
import { SecondFactorChallenge } from "#workspace/sign-in/session-shapes.ts";
import type { SignInDeps } from "#workspace/sign-in/sign-in.ts";
import { LONGEST_RETURN_PATH, readReturnPath } from "./begun-sign-on.ts";
import type { SingleSignOn } from "./single-sign-on.ts";

const NewSingleSignOn = Type.Object(
  {
    return_to: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LONGEST_RETURN_PATH,
        description:
          "Path of this site to which the browser goes after the sign-in, with a query and fragment if need be; by default the console.",
      }),
    ),
    reauthenticate: Type.Optional(
      Type.Boolean({
        description:
          "Whether the provider shall ask who the person is although they are signed in there, after `REAUTHENTICATION_REQUIRED` for example; false by default.",
      }),
    ),
  },
  { $id: "NewSingleSignOn" },
);

const StartedSingleSignOn = Type.Object(
  {
    url: Type.String({
      format: "uri",
      description: "The sign-in page of the provider: send the browser there.",
    }),
    expires_at: Type.Unsafe<Date>({
      ...Timestamp,
      description: "Until when this browser can finish the sign-in: ten minutes from now.",
    }),
  },
  { $id: "StartedSingleSignOn" },
);

const ChallengeToken = Type.Object(
  {
    challenge: Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        "The token of a challenge that `signIn` answered, or that single sign-on put into the URL.",
    }),
  },
  { $id: "ChallengeToken" },
);

export interface SingleSignOnEndpointDeps extends Pick<SignInDeps, "db" | "clock" | "factors"> {
  /** Null: no provider is configured. */
  readonly singleSignOn: SingleSignOn | null;
  /** Path of a page of the console. */
  readonly consolePath: (page: string) => string;
}

export function singleSignOnEndpoints({
  db,
  clock,
  factors,
  singleSignOn,
  consolePath,
}: SingleSignOnEndpointDeps): Endpoint[] {
  return [
    endpoint({
      id: "startSingleSignOn",
      method: "POST",
      path: "/sign-in/single-sign-on",
      summary: "Begin a sign-in at the OpenID provider of the installation",
      description:
        "Answers the URL of the provider's sign-in page and sets a cookie, which lets only this browser finish the sign-in. The provider sends the browser back to `/single-sign-on/finish`, which opens the session and goes on to `return_to`. When the account has a second factor, the browser goes to `/console/sign-in#challenge=…` instead: give that token to `getSecondFactorChallenge`, then complete the sign-in with `confirmSecondFactor`. 404 when `getSignInOptions` names no provider; 503 when the provider does not answer.",
      needs: "public",
      unaudited: "changes nothing: the sign-in that follows is audited as finishSingleSignOn",
      body: NewSingleSignOn,
      bodyMayBeAbsent: true,
      answer: StartedSingleSignOn,
      status: 201,
      message: "Go on at the provider",
      errors: ["NOT_FOUND"],
      mayTakeLong: "asking others",
      async handle({ body, client, cookies }) {
        if (singleSignOn === null) throw new ApiError("NOT_FOUND", "Single sign-on is not configured here");
        const { return_to = consolePath(""), reauthenticate: asksAgain = false } = body;
        return singleSignOn.begin({ returnTo: readReturnPath(return_to), asksAgain }, { client, cookies });
      },
    }),
    endpoint({
      id: "getSecondFactorChallenge",
      method: "POST",
      path: "/sign-in/second-factor/challenge",
      summary: "The open challenge of a sign-in, for a page that has only its token",
      description:
        "Answers what `signIn` answered as `second_factor`: the kinds of proof and the options for a passkey. Use it after single sign-on, or when the page was loaded again. It takes no try; 404 when the challenge has ended.",
      needs: "public",
      unaudited: "only reads",
      body: ChallengeToken,
      answer: SecondFactorChallenge,
      message: "Confirm the sign-in with a second factor",
      errors: ["NOT_FOUND"],
      async handle({ body, client }) {
        await countVisit(db, client.ip, clock.now());
        const found = await factors.find(db, body.challenge, clock.now());
        if (found === null) throw notFound("Challenge");
        return { ...found, kinds: [...found.kinds] };
      },
    }),
  ];
}
