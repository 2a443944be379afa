// A PostgreSQL server of this machine for tests: in a folder of its own, on a Unix socket only,
// with the settings that it has by default (fsync is on). It ends with the test's process. A
// machine without PostgreSQL fails the test.
#pragma once

#include <sys/types.h>

#include <string>

namespace hyperflock::storage {

class TestPostgres {
 public:
  // Returns the server of this process, which is started at the first call.
  static TestPostgres& instance();

  // Creates a schema for a test, and returns a URL whose connections use it.
  std::string new_schema();
  // Returns a URL of a database that asks for the password of its user `ada`, which is
  // "right:word".
  std::string url_with_password() const;
  // Runs SQL in the schema of the URL, or in no schema of a test. Returns the first value, or an
  // empty text.
  std::string sql(const std::string& statement, const std::string& url = {});

  // Stops the server as a crash does (`pg_ctl stop -m immediate`), starts it again, or does both.
  void crash();
  void restart_stopped();
  void restart();

  ~TestPostgres();
  TestPostgres(const TestPostgres&) = delete;
  TestPostgres& operator=(const TestPostgres&) = delete;

 private:
  TestPostgres();

  std::string folder_;
  std::string programs_;  // the folder of initdb, postgres and psql
  pid_t server_ = 0;
  int schemas_ = 0;
};

}  // namespace hyperflock::storage
