-- The operator's switch of a domain outlives the rows of those who use it, and holds for whoever adds the domain later.
create table domain_switches (
  -- Lower-case A-labels.
  domain text not null,
  -- Null: of every workspace that has no row of its own.
  workspace_id uuid references workspaces (id),
  is_active boolean not null,
  unique nulls not distinct (domain, workspace_id)
);

insert into domain_switches (domain, workspace_id, is_active)
select domain, workspace_id, false from sending_domains where not is_active;

alter table sending_domains drop column is_active;
