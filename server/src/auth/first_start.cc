// Creates the first identities; see first_start.h.
#include "auth/first_start.h"

#include "auth/tokens.h"

namespace hyperflock::auth {
namespace {

using storage::PrincipalRole;

storage::CreatePrincipal principal(const std::string& name, PrincipalRole role,
                                   const std::string& token,
                                   const std::vector<std::string>& projects) {
  return {.principal = {.id = 0, .name = name, .role = role, .projects = projects},
          .token_hash = token_hash(token)};
}

}  // namespace

std::optional<FirstStart> first_start(const storage::Identities& stored, const FirstNames& names) {
  if (!stored.principals.empty()) return std::nullopt;
  FirstStart first;
  first.admin_token = new_token(TokenKind::admin);
  first.researcher_token = new_token(TokenKind::researcher);
  first.enrolment_code = new_token(TokenKind::enrolment_code);
  first.transitions = {
      storage::CreateProject{names.project},
      principal("admin", PrincipalRole::admin, first.admin_token, {}),
      principal(names.researcher, PrincipalRole::researcher, first.researcher_token,
                {names.project}),
      storage::CreateEnrolment{
          {.code_hash = token_hash(first.enrolment_code), .project = names.project}},
  };
  return first;
}

}  // namespace hyperflock::auth
