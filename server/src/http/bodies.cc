#include "http/bodies.h"

#include "http/body.h"

namespace hyperflock::http {

Result<ProjectQuery> parse_project_query(std::string_view body) {
  return parse_body<ProjectQuery>(body, [](const protocol::Value& in, ProjectQuery& query) {
    query.code = in["code"].as_text();
  });
}

Result<JoinQuery> parse_join_query(std::string_view body) {
  return parse_body<JoinQuery>(body, [](const protocol::Value& in, JoinQuery& query) {
    query.code = in["code"].as_text();
    const protocol::Value device_class = in["class"];
    query.device_class = device_class.as_text();
    const bool known = query.device_class == "phone" || query.device_class == "tablet" ||
                       query.device_class == "desktop" || query.device_class == "node";
    if (device_class.present() && !known) device_class.bad_field("phone, tablet, desktop or node");
    query.engine = in["engine"].as_text();
  });
}

}  // namespace hyperflock::http
