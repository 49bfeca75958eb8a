/**
 * What the buttons of a page call when they are pressed, or at the end of the form that they open, by their names; the name of a
 * button in a tool bar begins with that of the bar.
 */

type Controls = readonly (readonly [name: RegExp, ...operations: string[]])[];

/** Of every page: they call nothing, or only what filled the page. */
const everywhere: Controls = [
  [/^(Columns and rows|Next page|Previous page|Show as table|CSV of .*)$/],
  [/^Copy /],
  [/^Try again$/],
  // Menus, whose acts are listed themselves.
  [/^(More acts$|More about |Acts on )/],
];

/** By the first word of the address; what only one page below it has is in `below`. */
const controls: Readonly<Record<string, Controls>> = {
  "": [
    [/^Dismiss/, "dismissNotice"],
    [/^Restore/, "restoreNotice"],
  ],
  // All that a person does with their own account needs no role.
  account: [[/./]],
  "api-keys": [[/^New key$/, "createApiKey"]],
  campaigns: [
    [/^(New campaign|Paste HTML)$/, "createCampaign"],
    [/^(Open|Preview|Write|Show in the mail)$/],
    [/^Duplicate$/, "duplicateCampaign"],
    [/^Send …$/, "sendCampaign"],
    [/^Test …$/, "testCampaign"],
    [/^Ask for approval$/, "requestApproval"],
    [/^Delete …$/, "deleteCampaign"],
    [/^Export as CSV …$/, "exportCampaignRecipients"],
    [/^Make a segment …$/, "createSegmentFromCampaign"],
    [/^Send to those who did not open …$/, "createSegmentFromCampaign", "duplicateCampaign"],
    // A finding of the check leads to its place in the editor.
    [/^(From address|HTML|Text|Subject)\b.*, /],
  ],
  domains: [
    [/^Add a domain$/, "createSendingDomain"],
    [/^Add an address$/, "createVerifiedSender"],
    [/^Remove .*@/, "deleteVerifiedSender"],
    [/^Add a tracking domain$/, "createTrackingDomain"],
    // Who may not store what a check finds sees it.
    [/^(Check now|Checking|Again in \d+ s)$/, "getSendingDomainDnsStatus"],
    [/^Zone file$/],
    [/^Delete the domain$/, "deleteSendingDomain"],
    [/^Create a key$/, "createDkimKey"],
    [/^Check$/, "verifyDkimKeyDns"],
    [/^Delete$/, "deleteDkimKey"],
  ],
  jobs: [[/^Cancel the job$/, "cancelJob"]],
  lists: [
    [/^New list$/, "createMailingList"],
    [/^(Import|Choose a file|Drop a file)$/, "importSubscribers"],
    [/^New segment$/, "createSegment"],
    [/^Export$/, "exportSubscribers"],
    [/^Add a person$/, "addMember"],
  ],
  messages: [
    [/^Try now$/, "retryMessage"],
    [/^Cancel$/, "cancelMessage"],
    [/^Remove from suppression$/, "deleteSuppressionEntry"],
  ],
  people: [
    [/^Add a person$/, "addMember"],
    [/^Export$/, "exportSubscribers"],
    [/^Edit$/, "updateMember"],
    [/^Add to a list$/, "addMember"],
    [/^Remove from the list$/, "removeMember"],
    [/^Erase this person$/, "eraseSubscriber"],
    [/^Download their data$/, "exportSubscriberData"],
    [/^Kinds of events: /],
  ],
  segments: [[/^New segment$/, "createSegment"]],
  suppression: [
    [/^New list$/, "createSuppressionList"],
    [/^Add$/, "addSuppressionEntries"],
    [/^Import$/, "importSuppressionEntries"],
    [/^Settings$/, "updateSuppressionList"],
    [/^Delete the list$/, "deleteSuppressionList"],
  ],
  team: [
    [/^Invite$/, "inviteTeammate"],
    [/^Send again /, "resendInvitation"],
    [/^Revoke /, "revokeInvitation"],
    [/^Leave/, "leaveWorkspace"],
    [/^Remove /, "removeTeammate"],
  ],
};

const below: Readonly<Record<string, Controls>> = {
  "lists/$list/segments/$segment": [
    [/^Save$/, "updateSegment"],
    // Who may not save rules may try them.
    [/^(Add a rule|Add a group|Remove rule \d+)$/, "previewSegment"],
    [/^Duplicate$/, "createSegment"],
    [/^Export its people …$/, "exportSubscribers"],
    [/^Delete$/, "deleteSegment"],
  ],
  "lists/$list?tab=fields": [
    [/^New field$/, "createCustomField"],
    [/^Edit$/, "updateCustomField"],
    [/^Delete$/, "deleteCustomField"],
  ],
  "lists/$list?tab=form": [[/^Save$/, "updateSignupForm"]],
  "lists/$list?tab=settings": [
    [/^Save$/, "updateMailingList"],
    [/^Empty the list$/, "removeAllMembers"],
    [/^Delete the list$/, "deleteMailingList"],
  ],
  "team?tab=roles": [
    [/^(New role|Make a role like it)$/, "createRole"],
    [/^Change$/, "updateRole"],
    [/^Delete$/, "deleteRole"],
  ],
};

/** Undefined for a button that is not listed here. */
export function operationsOfControl(page: string, name: string): readonly string[] | undefined {
  const known = [below[page] ?? [], controls[page.split(/[/?]/)[0] ?? ""] ?? [], everywhere].flat();
  return known
    .find(([pattern]) => pattern.test(name))
    ?.slice(1)
    .map(String);
}
