#include "http/bodies.h"

#include "protocol/json_reader.h"

namespace hyperflock::http {
namespace {

// Parses an object and lets `read` take its fields.
template <typename Query, typename Read>
Result<Query> parse(std::string_view body, Read read) {
  Result<protocol::Json> json = protocol::parse_object(body);
  if (!json) return json.error();
  protocol::Problem problem;
  Query query;
  read(protocol::Value(*json, problem), query);
  if (problem.found()) return problem.error();
  return query;
}

}  // namespace

Result<ProjectQuery> parse_project_query(std::string_view body) {
  return parse<ProjectQuery>(body, [](const protocol::Value& in, ProjectQuery& query) {
    query.code = in["code"].as_text();
  });
}

Result<JoinQuery> parse_join_query(std::string_view body) {
  return parse<JoinQuery>(body, [](const protocol::Value& in, JoinQuery& query) {
    query.code = in["code"].as_text();
    const protocol::Value device_class = in["class"];
    query.device_class = device_class.as_text();
    const bool known = query.device_class == "phone" || query.device_class == "tablet" ||
                       query.device_class == "desktop" || query.device_class == "node";
    if (device_class.present() && !known) device_class.bad_field("phone, tablet, desktop or node");
    query.engine = in["engine"].as_text();
  });
}

Result<EnrolmentQuery> parse_enrolment_query(std::string_view body) {
  if (body.empty()) return EnrolmentQuery{};
  return parse<EnrolmentQuery>(body, [](const protocol::Value& in, EnrolmentQuery& query) {
    const protocol::Value project = in.find("project");
    if (project.present()) query.project = project.as_text();
  });
}

}  // namespace hyperflock::http
