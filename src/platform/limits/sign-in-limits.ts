/** Limits on attempts to sign in, and on the mails about accounts. Attempts are token buckets in the database. */
import type { Limit } from "./limit.ts";

const BEYOND = "429 with Retry-After; a token comes back every";

export const signInLimits = {
  signInsOfAccount: {
    what: "failed sign-ins from unknown browsers",
    scope: "account",
    most: 10,
    per: "15 minutes",
    beyond: `${BEYOND} 90 s. The person gets a mail. Browsers from which the person has signed in are counted separately`,
  },
  signInsOfBrowser: {
    what: "failed sign-ins from a known browser",
    scope: "browser",
    most: 10,
    per: "15 minutes",
    beyond: `${BEYOND} 90 s`,
  },
  signInsOfNetwork: {
    what: "failed sign-ins from unknown browsers",
    scope: "network",
    most: 60,
    per: "15 minutes",
    beyond: `${BEYOND} 15 s`,
  },
  secondFactorsOfAccount: {
    what: "wrong codes of second factors",
    scope: "account",
    most: 10,
    per: "15 minutes",
    beyond: `${BEYOND} 90 s; passkeys are not limited`,
  },
  confirmationsOfSession: {
    what: "failed confirmations of the own identity",
    scope: "session",
    most: 10,
    per: "15 minutes",
    beyond: `${BEYOND} 90 s`,
  },
  signInPagesOfNetwork: {
    what: "passkey challenges, single sign-ons and uses of links",
    scope: "network",
    most: 120,
    per: "15 minutes",
    beyond: `${BEYOND} 7.5 s`,
  },
  sharePasswordsOfNetwork: {
    what: "wrong passwords",
    scope: "network and share link",
    most: 10,
    per: "15 minutes",
    beyond: `${BEYOND} 90 s`,
  },
  sharePasswordsOfLink: {
    what: "wrong passwords",
    scope: "share link",
    most: 100,
    per: "15 minutes",
    beyond: `${BEYOND} 9 s`,
  },
  passwordResetsOfNetwork: {
    what: "requests to reset a password",
    scope: "network",
    most: 30,
    per: "hour",
    beyond: "429 with Retry-After",
  },
  passwordResetMails: {
    what: "mails to reset a password",
    scope: "mailbox",
    most: 5,
    per: "hour",
    beyond: "the answer is the same, and no mail is sent",
  },
  addressChangeMails: {
    what: "mails to confirm a new address of an account",
    scope: "mailbox",
    most: 5,
    per: "day",
    beyond: "the answer is the same, and no mail is sent",
  },
  addressChangesOfAccount: {
    what: "changes of the address",
    scope: "account",
    most: 10,
    per: "day",
    beyond: "429 with Retry-After",
  },
  failedSignInNotices: {
    what: "notices about failed sign-ins",
    scope: "mailbox",
    most: 5,
    per: "day",
    beyond: "no mail is sent",
  },
  accountNotices: {
    what: "notices about sign-ins from new browsers and changes of an account",
    scope: "mailbox",
    most: 20,
    per: "day",
    beyond: "no mail is sent",
  },
} as const satisfies Record<string, Limit>;
