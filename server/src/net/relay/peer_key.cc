// See peer_key.h.
#include "net/relay/peer_key.h"

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace hyperflock::net {
namespace {

namespace asio = boost::asio;

constexpr const char* kCipherName = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 2> kCipherNumber{0x13, 0x01};

// A context and what its callbacks need. The connections own it.
struct KeyedContext {
  asio::ssl::context context{asio::ssl::context::tls};
  std::string identity;
  std::string secret;
};

int key_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

const KeyedContext* keyed(SSL* ssl) {
  return static_cast<const KeyedContext*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), key_index()));
}

// Returns the session in which OpenSSL takes a key; nullptr without memory.
SSL_SESSION* make_session(SSL* ssl, const std::string& secret) {
  SSL_SESSION* const session = SSL_SESSION_new();
  const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, kCipherNumber.data());
  if (session != nullptr && cipher != nullptr &&
      SSL_SESSION_set1_master_key(session, reinterpret_cast<const unsigned char*>(secret.data()),
                                  secret.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

// Gives the key for the identity that the other end has named. Without one the handshake fails,
// because there is no certificate.
int find_key(SSL* ssl, const unsigned char* identity, std::size_t bytes, SSL_SESSION** session) {
  const KeyedContext* const key = keyed(ssl);
  *session = nullptr;
  if (std::string_view(reinterpret_cast<const char*>(identity), bytes) != key->identity) return 1;
  *session = make_session(ssl, key->secret);
  return *session != nullptr ? 1 : 0;
}

int use_key(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* bytes,
            SSL_SESSION** session) {
  const KeyedContext* const key = keyed(ssl);
  *session = make_session(ssl, key->secret);
  *identity = reinterpret_cast<const unsigned char*>(key->identity.data());
  *bytes = key->identity.size();
  return *session != nullptr ? 1 : 0;
}

}  // namespace

TlsContext peer_context(const PeerKey& key, TlsEnd end) {
  auto made = std::make_shared<KeyedContext>();
  made->identity = "hyperflock epoch " + std::to_string(key.epoch);
  made->secret = key.secret;
  SSL_CTX* const native = made->context.native_handle();
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (key.secret.empty() || SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(native, kCipherName) != 1 ||
      SSL_CTX_set_num_tickets(native, 0) != 1 ||
      SSL_CTX_set_ex_data(native, key_index(), made.get()) != 1)
    throw std::runtime_error("TLS 1.3 with a shared key cannot be used");
  if (end == TlsEnd::accepts) {
    SSL_CTX_set_psk_find_session_callback(native, &find_key);
  } else {
    // Every certificate is refused, because there is no authority: an end without the key must not
    // pass as the server.
    SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_psk_use_session_callback(native, &use_key);
  }
  return {made, &made->context};
}

}  // namespace hyperflock::net
